#include "host/command.h"
#include "tests/suites.h"

#include <string.h>

static struct bt_error error;

static int parse(struct command *command, const char *line)
{
    memset(&error, 0, sizeof error);
    return command_parse(command, line, strlen(line), &error);
}

static void test_good(void)
{
    static const char *const names[COMMANDS] = {"status", "start", "stop", "rotate"};
    struct command command;
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
    struct command command;
    CU_ASSERT_EQUAL(parse(&command, line), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, sentence);
}

static void test_bad(void)
{
    static const char shape[] =
        "a request is one object of strings, such as {\"command\": \"status\"}";
    refused("", "this is not a line of JSON");
    refused("status", "this is not a line of JSON");
    refused("{\"command\":\"status\"", "this is not a line of JSON");
    refused("{\"command\":\"status\"} {}", "this is not a line of JSON");
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
            "duplicate key \"command\", at byte 27");
    refused("{\"capture\":\"p2\",\"command\":\"stop\",\"c\\u0061pture\":\"all\"}",
            "duplicate key \"capture\", at byte 47");
    refused("{\"command\":\"stop\",\"capture\":\"\"}",
            "the capture's name is empty; \"all\" means every one");
    refused("{\"command\":\"halt\"}", "the commands are status, start, stop and rotate");
    refused("{\"command\":\"stop\",\"capture\":"
            "\"0123456789012345678901234567890123456789012345678901234567890123\"}",
            "there is no capture of that name");
    refused("{\"command\":\"stop\",\"capture\":\"a\\u0000b\"}", "there is no capture of that name");
}

static const struct test_case cases[] = {
    {"what may be asked", test_good}, {"what may not", test_bad}, {NULL, NULL}};
TEST_SUITE(command, cases)
