/* SPDX-License-Identifier: MIT */
/*
 * log.h - messages for people, on stderr, one line each. Data goes to stdout and never through
 * here. Text that comes from a target is escaped, so that it cannot steer a terminal.
 */
#ifndef SDW_LOG_H
#define SDW_LOG_H

enum sdw_log_level { SDW_LOG_ERROR, SDW_LOG_WARN, SDW_LOG_INFO, SDW_LOG_DEBUG };

/* Messages above `level` are dropped; the default is SDW_LOG_INFO. Process-wide. */
void sdw_log_set_level(enum sdw_log_level level);
enum sdw_log_level sdw_log_level(void);

/* Writes "sidewinder: error: ..." or the like; control characters in the result become \xNN. */
void sdw_log(enum sdw_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* How many errors were written so far: where a fault must not end without a word. */
unsigned int sdw_log_errors(void);

#define sdw_error(...) sdw_log(SDW_LOG_ERROR, __VA_ARGS__)
#define sdw_warn(...)  sdw_log(SDW_LOG_WARN, __VA_ARGS__)
#define sdw_info(...)  sdw_log(SDW_LOG_INFO, __VA_ARGS__)
#define sdw_debug(...) sdw_log(SDW_LOG_DEBUG, __VA_ARGS__)

#endif
