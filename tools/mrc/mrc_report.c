#include "tools/mrc/mrc_report.h"

int mrc_report_each(const struct mrc_report *report, mrc_report_series *put, void *argument,
                    struct bt_error *error)
{
    int result = 0;
    for (unsigned study = 0; study < report->count; study++)
        for (unsigned number = 0; number < MRC_SERIES_MAX && result == 0; number++)
            if (mrc_study_series(report->studies[study], number))
                result = put(argument, report, study, number, error);
    return result;
}
