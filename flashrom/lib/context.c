/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

static int probe_status(int error)
{
	switch (error) {
	case 0:
		return 0;
	case -ENOTUNIQ:
		return 3;
	case -ENODEV:
	case -EINVAL: /* no chip of that name, or SFDP tables that make no sense */
		return 2;
	default:
		return 1;
	}
}

int flashrom_flash_probe(struct flashrom_flashctx **flashctx,
	const struct flashrom_programmer *flashprog, const char *chip_name)
{
	struct flashrom_flashctx *context = calloc(1, sizeof(*context));
	int error;

	if (context == NULL)
		return 1;
	flash_init(&context->flash, flashprog->base, &system_clock, &caller_log);
	error = flash_probe(&context->flash, chip_lists, chip_name, false);
	if (error == 0)
		*flashctx = context;
	else
		free(context);
	return probe_status(error);
}

size_t flashrom_flash_getsize(const struct flashrom_flashctx *flashctx)
{
	return flashctx->flash.chip->size_bytes;
}

void flashrom_flash_release(struct flashrom_flashctx *flashctx)
{
	free(flashctx);
}

static bool is_flag(enum flashrom_flag flag)
{
	return (unsigned int)flag < FLAGS_COUNT;
}

void flashrom_flag_set(struct flashrom_flashctx *flashctx, enum flashrom_flag flag, bool value)
{
	if (is_flag(flag))
		flashctx->flags[flag] = value;
}

bool flashrom_flag_get(const struct flashrom_flashctx *flashctx, enum flashrom_flag flag)
{
	return is_flag(flag) && flashctx->flags[flag];
}

void flashrom_rig_set_realtime(struct flashrom_flashctx *flashctx, bool value)
{
	flashctx->realtime = value;
}

static enum flashrom_progress_stage public_stage(enum progress_stage stage)
{
	static const enum flashrom_progress_stage stages[] = {
		[PROGRESS_READ] = FLASHROM_PROGRESS_READ,
		[PROGRESS_WRITE] = FLASHROM_PROGRESS_WRITE,
		[PROGRESS_ERASE] = FLASHROM_PROGRESS_ERASE,
	};

	return stages[stage];
}

static void call_with_state(struct flashrom_flashctx *context, enum flashrom_progress_stage stage,
	uint32_t done_bytes, uint32_t total_bytes)
{
	struct flashrom_progress *state = context->listener.state;

	if (state != NULL) {
		state->stage = stage;
		state->current = done_bytes;
		state->total = total_bytes;
	}
	context->listener.callback(context);
}

static void report_progress(
	void *sink, enum progress_stage stage, uint32_t done_bytes, uint32_t total_bytes)
{
	struct flashrom_flashctx *context = sink;
	const struct progress_listener *listener = &context->listener;

	if (listener->callback != NULL)
		call_with_state(context, public_stage(stage), done_bytes, total_bytes);
	else
		listener->callback_v2(
			public_stage(stage), done_bytes, total_bytes, listener->user_data);
}

static void set_listener(struct flashrom_flashctx *context, struct progress_listener listener)
{
	const bool any = listener.callback != NULL || listener.callback_v2 != NULL;

	context->listener = listener;
	context->progress = (struct progress){.report = report_progress, .sink = context};
	context->flash.progress = any ? &context->progress : NULL;
}

void flashrom_set_progress_callback(struct flashrom_flashctx *flashctx,
	flashrom_progress_callback *progress_callback, struct flashrom_progress *progress_state)
{
	set_listener(flashctx,
		(struct progress_listener){.callback = progress_callback, .state = progress_state});
}

void flashrom_set_progress_callback_v2(struct flashrom_flashctx *flashctx,
	flashrom_progress_callback_v2 *progress_callback, void *user_data)
{
	set_listener(flashctx, (struct progress_listener){
				       .callback_v2 = progress_callback, .user_data = user_data});
}
