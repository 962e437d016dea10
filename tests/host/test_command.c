#include "host/control_command.h"
#include "tests/suites.h"

#include <string.h>

static struct bt_error error;

static int parse(struct control_command *command, const char *line)
{
    memset(&error, 0, sizeof error);
    return control_command_parse(command, line, strlen(line), &error);
}

static void test_good(void)
{
    static const char *const names[COMMANDS] = {"status", "start", "stop", "rotate", "snapshot"};
    struct control_command command;
    for (int i = 0; i < COMMANDS; i++) {
        char line[100] = "{\"command\":\"";
        strcat(strcat(line, names[i]), "\"}");
        CU_ASSERT_EQUAL(parse(&command, line), 0);
        CU_ASSERT_EQUAL((int)command.code, i);
        CU_ASSERT_STRING_EQUAL(command.capture, "");
    }
    CU_ASSERT_EQUAL(parse(&command, " { \"capture\" : \"p2\" , \"command\" : \"stop\" } "), 0);
    CU_ASSERT_EQUAL(command.code, COMMAND_STOP);
    CU_ASSERT_STRING_EQUAL(command.capture, "p2");
    CU_ASSERT_EQUAL(parse(&command, "{\"command\":\"stop\",\"capture\":\"all\"}"), 0);
    CU_ASSERT_STRING_EQUAL(command.capture, "");
}

static void refused(const char *line, const char *sentence)
{
    struct control_command command;
    CU_ASSERT_EQUAL(parse(&command, line), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, sentence);
}

static void test_bad(void)
{
    static const char shape[] =
        "a request is one object of strings, such as {\"command\": \"status\"}";
    refused("", "the request: (line 1, offset 0): the text ends where a value is expected");
    refused("status", "the request: (line 1, offset 0): 's' where a value is expected");
    refused("{\"command\":\"status\"",
            "the request: command (line 1, offset 19): the text ends where ',' or '}' is expected");
    refused("{\"command\":\"status\"} {}",
            "the request: (line 1, offset 21): data after the end of the document");
    refused("\"status\"", shape);
    refused("[]", shape);
    refused("{\"command\":{}}", shape);
    refused("{\"command\":1}", shape);
    refused("{\"command\":null}", shape);
    refused("{\"command\":true}", shape);
    refused("{}", "a request has a \"command\"");
    refused("{\"capture\":\"x\"}", "a request has a \"command\"");
    refused("{\"verb\":\"status\"}", "a request has the keys \"command\" and \"capture\" only");
    refused("{\"command\":\"stop\",\"command\":\"status\"}",
            "the request: command (line 1, offset 27): duplicate key \"command\"");
    refused("{\"capture\":\"p2\",\"command\":\"stop\",\"c\\u0061pture\":\"all\"}",
            "the request: capture (line 1, offset 47): duplicate key \"capture\"");
    refused("{\"command\":\"stop\",\"capture\":\"\"}",
            "the capture's name is empty; \"all\" means every one");
    refused("{\"command\":\"halt\"}", "the commands are status, start, stop, rotate and snapshot");
    refused("{\"command\":\"stop\",\"capture\":"
            "\"0123456789012345678901234567890123456789012345678901234567890123\"}",
            "no capture can have that name");
    refused("{\"command\":\"stop\",\"capture\":\"a\\u0000b\"}", "no capture can have that name");
}

/* Random octets, none of which are a request. */
static void refused_octets(const char *octets, size_t size)
{
    struct control_command command;
    memset(&error, 0, sizeof error);
    CU_ASSERT_EQUAL(control_command_parse(&command, octets, size, &error), BT_USAGE);
    CU_ASSERT(error.code == BT_USAGE && error.message[0] != '\0');
}

static void test_hostile(void)
{
    static char deep[60000];
    memset(deep, '[', sizeof deep);
    refused_octets(deep, sizeof deep);
    for (size_t i = 0; i < sizeof deep - 5; i += 5)
        memcpy(deep + i, "{\"a\":", 5);
    refused_octets(deep, sizeof deep);
    memset(deep, '9', sizeof deep);
    refused_octets(deep, sizeof deep);
    memset(deep, ' ', sizeof deep);
    refused_octets(deep, sizeof deep);
    memset(deep, '\0', sizeof deep);
    refused_octets(deep, sizeof deep);
#define REFUSED(text) refused_octets(text, sizeof text - 1)
    REFUSED("{\"command\":\"status\"}\0");
    REFUSED("{\"command\":\"status\",}");
    REFUSED("{\"command\":\"stat\0us\"}");
    REFUSED("{\"command\":\"status\\u0000\"}");
    REFUSED("{\"comm\\u0061nd\\u0000\":\"status\"}");
    REFUSED("{\"command\":\"status\",\"capture\":\"\xff\"}");
    REFUSED("{\"command\":\"status\",\"capture\":\"\\ud800\"}");
    REFUSED("\xef\xbb\xbf{\"command\":\"status\"}");
    REFUSED("{'command':'status'}");
}

static const struct test_case cases[] = {{"valid requests", test_good},
                                         {"invalid requests", test_bad},
                                         {"hostile octets", test_hostile},
                                         {NULL, NULL}};
TEST_SUITE(command, cases)
