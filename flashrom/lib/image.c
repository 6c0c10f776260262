/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"
#include "priority.h"

/*
 * Lists the included regions of the layout. Without a layout `count` is 0, which stands for the
 * whole chip. The caller frees `ranges`. Returns 0, -ENODATA if no region is included, or another
 * negative errno.
 */
static int select_ranges(
	const struct flashrom_flashctx *context, struct range **ranges, size_t *count)
{
	int error;

	*ranges = NULL;
	*count = 0;
	if (context->layout == NULL)
		return 0;
	error = layout_ranges(&context->layout->base, context->flash.chip->size_bytes, &caller_log,
		ranges, count);
	return error == 0 && *count == 0 ? -ENODATA : error;
}

static int run_at_priority(struct flashrom_flashctx *context, const struct job *job)
{
	struct realtime found = {0};
	int error;

	if (context->realtime)
		priority_raise(&caller_log, &found);
	error = job_run(&context->flash, job);
	priority_restore(&caller_log, &found);
	return error;
}

static int run_selected(struct flashrom_flashctx *context, struct job *job)
{
	struct range *ranges;
	size_t count;
	int error = select_ranges(context, &ranges, &count);

	context->flash.written = WRITE_UNTOUCHED;
	if (error == -ENODATA) {
		log_warning(&caller_log, "No region of the layout is included: nothing to do.\n");
		error = 0;
	} else if (error == 0) {
		job->selection = (struct selection){ranges, count};
		job->force = context->flags[FLASHROM_FLAG_FORCE];
		error = run_at_priority(context, job);
	}
	free(ranges);
	return error;
}

static enum verify_scope verify_scope(const struct flashrom_flashctx *context)
{
	return context->flags[FLASHROM_FLAG_VERIFY_WHOLE_CHIP] ? VERIFY_TOUCHED : VERIFY_SELECTED;
}

static bool is_size(const struct flashrom_flashctx *context, size_t bytes)
{
	return bytes == context->flash.chip->size_bytes;
}

int flashrom_flash_erase(struct flashrom_flashctx *flashctx)
{
	struct job job = {.action = JOB_ERASE, .verify = verify_scope(flashctx)};

	return run_selected(flashctx, &job) == 0 ? 0 : 1;
}

int flashrom_image_read(struct flashrom_flashctx *flashctx, void *buffer, size_t buffer_len)
{
	struct job job = {.action = JOB_READ, .into = buffer};

	if (buffer_len < flashctx->flash.chip->size_bytes)
		return 2;
	return run_selected(flashctx, &job) == 0 ? 0 : 1;
}

static int write_status(const struct flashrom_flashctx *context, int error)
{
	if (error == 0)
		return 0;
	if (context->flash.written != WRITE_UNTOUCHED)
		return 2;
	return error == -EPERM ? 3 : 1;
}

int flashrom_image_write(
	struct flashrom_flashctx *flashctx, void *buffer, size_t buffer_len, const void *refbuffer)
{
	struct job job = {
		.action = JOB_WRITE,
		.image = buffer,
		.held = refbuffer,
		.verify = VERIFY_NOTHING,
	};

	if (!is_size(flashctx, buffer_len))
		return 4;
	if (flashctx->flags[FLASHROM_FLAG_VERIFY_AFTER_WRITE])
		job.verify = verify_scope(flashctx);
	return write_status(flashctx, run_selected(flashctx, &job));
}

int flashrom_image_verify(struct flashrom_flashctx *flashctx, const void *buffer, size_t buffer_len)
{
	struct job job = {.action = JOB_VERIFY, .image = buffer};
	int error;

	if (!is_size(flashctx, buffer_len))
		return 2;
	error = run_selected(flashctx, &job);
	if (error == -EILSEQ)
		return 3;
	return error == 0 ? 0 : 1;
}
