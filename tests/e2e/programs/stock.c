/* What a shop's stock is worth: 13270, but this program says 13240. The tutorial finds out why. */
#include <stdio.h>

#define NAME_LETTERS 8
#define ITEMS        4

struct item {
    char name[NAME_LETTERS];
    int price, count;
};

static struct item stock[ITEMS];

static void set_name(struct item *item, const char *name)
{
    int i = 0;
    for (; *name && i < NAME_LETTERS; name++)
        item->name[i++] = *name;
    item->name[i] = '\0';
}

static void add(struct item *item, const char *name, int price, int count)
{
    item->price = price;
    item->count = count;
    set_name(item, name);
}

static int worth(const struct item *items, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += items[i].price * items[i].count;
    return sum;
}

int main(void)
{
    add(&stock[0], "bolt", 12, 300);
    add(&stock[1], "nut", 5, 800);
    add(&stock[2], "cylinder", 1290, 3);
    add(&stock[3], "washer", 2, 900);
    const int sum = worth(stock, ITEMS);
    printf("The stock is worth %d\n", sum);
    return 0;
}
