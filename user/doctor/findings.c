// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "doctor/findings.h"

void sdw_findings_add(struct sdw_findings *findings, const char *key, enum sdw_level level,
		      const char *fix, const char *format, ...)
{
	struct sdw_finding *new;
	va_list arguments;

	if (sdw_array_reserve(findings, 1)) {
		findings->out_of_memory = true;
		return;
	}
	new = &findings->items[findings->count++];
	*new = (struct sdw_finding){.key = key, .level = level};
	if (fix)
		snprintf(new->fix, sizeof(new->fix), "%s", fix);
	va_start(arguments, format);
	vsnprintf(new->text, sizeof(new->text), format, arguments);
	va_end(arguments);
}

void sdw_findings_free(struct sdw_findings *findings)
{
	free(findings->items);
	*findings = (struct sdw_findings){0};
}

const char *sdw_level_name(enum sdw_level level)
{
	static const char *const names[SDW_LEVEL_COUNT] = {"ok", "note", "warning", "fault"};

	return level < SDW_LEVEL_COUNT ? names[level] : "fault";
}
