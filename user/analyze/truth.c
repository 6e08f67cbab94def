// SPDX-License-Identifier: MIT
/* truth.c - see truth.h. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/truth.h"
#include "base/array.h"
#include "base/log.h"

#define MAX_BYTES     (16u << 20)
#define MAX_FUNCTIONS 10000

static int add_function(struct sdw_truth *truth, const char *name, double share)
{
	struct sdw_truth_function *function;
	int err;

	if (truth->count == MAX_FUNCTIONS || !isfinite(share) || share < 0)
		return -EINVAL;
	err = sdw_array_reserve(truth, 1);
	if (err)
		return err;
	function = &truth->items[truth->count];
	function->share = share;
	function->name = strdup(name);
	if (!function->name)
		return -ENOMEM;
	truth->count++;
	return 0;
}

static int take_shares(struct sdw_truth *truth, struct json_object *shares)
{
	double sum = 0;

	json_object_object_foreach(shares, name, value)
	{
		int err = -EINVAL;

		if (json_object_is_type(value, json_type_double) ||
		    json_object_is_type(value, json_type_int))
			err = add_function(truth, name, json_object_get_double(value));
		if (err)
			return err;
	}
	for (size_t i = 0; i < truth->count; i++)
		sum += truth->items[i].share;
	if (!(sum > 0) || !isfinite(sum))
		return -EINVAL;
	for (size_t i = 0; i < truth->count; i++)
		truth->items[i].share /= sum;
	return 0;
}

static int read_object(int fd, struct json_object **object)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size > MAX_BYTES)
		return -EFBIG;
	*object = json_object_from_fd(fd);
	return json_object_is_type(*object, json_type_object) ? 0 : -EINVAL;
}

int sdw_truth_read(const char *path, struct sdw_truth *truth)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;
	struct json_object *object = NULL, *shares;

	*truth = (struct sdw_truth){0};
	if (!err)
		err = read_object(fd, &object);
	if (!err) {
		if (!json_object_object_get_ex(object, "shares", &shares) ||
		    !json_object_is_type(shares, json_type_object))
			shares = object;
		err = take_shares(truth, shares);
	}
	if (err == -EINVAL)
		sdw_error(
			"%s: no shares of functions: wanted is JSON like {\"f\": 0.6, \"g\": 0.4}",
			path);
	else if (err)
		sdw_error("cannot read %s: %s", path, strerror(-err));
	json_object_put(object);
	if (fd >= 0)
		close(fd);
	return err;
}

void sdw_truth_free(struct sdw_truth *truth)
{
	for (size_t i = 0; i < truth->count; i++)
		free(truth->items[i].name);
	free(truth->items);
	*truth = (struct sdw_truth){0};
}

/* Returns index + 1 of the function that a code is, or 0. */
static size_t find_function(const struct sdw_truth *truth, const struct sdw_profile_code *code)
{
	const char *name = code->name ? code->name : "", *last = strrchr(name, '.');

	if (code->kind != SDW_CODE_PYTHON)
		return 0;
	for (size_t i = 0; i < truth->count; i++)
		if (strcmp(truth->items[i].name, name) == 0 ||
		    (last && strcmp(truth->items[i].name, last + 1) == 0))
			return i + 1;
	return 0;
}

/* By stack: index + 1 of the innermost function in it. A stack's parent always comes before it. */
static void find_innermost(const struct sdw_truth *truth, const struct sdw_profile *profile,
			   size_t *by_code, size_t *by_stack)
{
	for (size_t i = 1; i < profile->codes.count; i++)
		by_code[i] = find_function(truth, &profile->codes.items[i]);
	for (size_t i = 1; i < profile->stacks.count; i++) {
		const struct sdw_profile_stack *stack = &profile->stacks.items[i];
		uint32_t code = 0;

		if (stack->frame < profile->frames.count)
			code = profile->frames.items[stack->frame].code;
		if (code < profile->codes.count)
			by_stack[i] = by_code[code];
		if (!by_stack[i] && stack->parent < i)
			by_stack[i] = by_stack[stack->parent];
	}
}

static void add_up(const struct sdw_truth *truth, struct sdw_truth_result *result)
{
	double square = 0;

	if (!result->counted)
		return;
	for (size_t i = 0; i < truth->count; i++) {
		double share = (double)result->samples[i] / (double)result->counted;

		square += (share - truth->items[i].share) * (share - truth->items[i].share);
	}
	result->l2 = 100 * sqrt(square);
	result->rms = 100 * sqrt(square / (double)truth->count);
}

int sdw_truth_compare(const struct sdw_truth *truth, const struct sdw_profile *profile,
		      const struct sdw_path_samples *samples, struct sdw_truth_result *result)
{
	size_t *by_code = calloc(profile->codes.count + 1, sizeof(*by_code));
	size_t *by_stack = calloc(profile->stacks.count + 1, sizeof(*by_stack));
	int err = -ENOMEM;

	*result = (struct sdw_truth_result){0};
	result->samples = calloc(truth->count + 1, sizeof(*result->samples));
	if (by_code && by_stack && result->samples) {
		find_innermost(truth, profile, by_code, by_stack);
		err = 0;
	}
	for (size_t i = 0; i < samples->count && !err; i++) {
		uint32_t stack = samples->items[i].stack;
		size_t function = stack < profile->stacks.count ? by_stack[stack] : 0;

		if (function) {
			result->samples[function - 1]++;
			result->counted++;
		} else {
			result->outside++;
		}
	}
	if (!err)
		add_up(truth, result);
	free(by_code);
	free(by_stack);
	return err;
}

void sdw_truth_result_free(struct sdw_truth_result *result)
{
	free(result->samples);
	*result = (struct sdw_truth_result){0};
}
