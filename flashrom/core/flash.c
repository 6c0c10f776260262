/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "erase_plan.h"
#include "flash.h"

/* The interval of progress reports while reading. */
#define READ_STEP_BYTES UINT32_C(65536)

/* A step in progress. */
struct progress_step {
	const struct progress *to; /* NULL: not reported */
	enum progress_stage stage;
	uint32_t done_bytes;
	uint32_t total_bytes;
};

static void report_progress(const struct progress_step *step)
{
	if (step->to != NULL && step->total_bytes > 0)
		step->to->report(step->to->sink, step->stage, step->done_bytes, step->total_bytes);
}

static void progress_begin(struct progress_step *step, const struct progress *to,
	enum progress_stage stage, uint32_t total_bytes)
{
	*step = (struct progress_step){.to = to, .stage = stage, .total_bytes = total_bytes};
	report_progress(step);
}

static void progress_advance(struct progress_step *step, uint32_t bytes)
{
	assert(bytes <= step->total_bytes - step->done_bytes);
	step->done_bytes += bytes;
	report_progress(step);
}

void flash_init(struct flash *flash, struct programmer *programmer, const struct clock *clock,
	const struct log *log)
{
	*flash = (struct flash){.programmer = programmer, .clock = clock, .log = log};
}

int flash_flush(struct flash *flash)
{
	struct programmer *programmer = flash->programmer;

	return programmer->ops->flush == NULL ? 0 : programmer->ops->flush(programmer);
}

int flash_wait_us(struct flash *flash, uint32_t us)
{
	const int error = flash_flush(flash);

	if (error == 0)
		clock_delay_us(flash->clock, us);
	return error;
}

int flash_await_power(struct flash *flash, uint32_t us)
{
	const uint64_t powered_ns = flash->programmer->powered_ns;
	uint64_t passed_ns;

	if (powered_ns == 0)
		return 0;
	passed_ns = clock_now_ns(flash->clock) - powered_ns;
	if (passed_ns >= us * NS_PER_US)
		return 0;
	return flash_wait_us(
		flash, (uint32_t)((us * NS_PER_US - passed_ns + NS_PER_US - 1) / NS_PER_US));
}

int flash_open(struct flash *flash)
{
	const struct chip_driver *driver = flash->chip->driver;

	return driver->open == NULL ? 0 : driver->open(flash);
}

int flash_close(struct flash *flash)
{
	if (flash->chip == NULL || flash->chip->driver->close == NULL)
		return 0;
	return flash->chip->driver->close(flash);
}

/* A write: `current` is what the chip holds, `target` what it shall hold. */
struct write_job {
	struct flash *flash;
	struct range *ranges;     /* the selection, grown to whole erase blocks, in rising order */
	struct erase_plan *plans; /* one for each range */
	size_t count;
	uint8_t *current;
	uint8_t *target;
	struct progress_step erasing;
	struct progress_step writing;
	struct range in_doubt; /* the range that is being erased or programmed */
};

static uint32_t ranges_bytes(const struct range *ranges, size_t count)
{
	uint32_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += range_bytes(ranges[i]);
	return bytes;
}

/*
 * Returns the bytes to read between two reports: READ_STEP_BYTES at most, and whole transfers if
 * they are shorter, so that reports add no commands.
 */
static uint32_t read_step_bytes(const struct flash *flash)
{
	const size_t transfer_bytes = flash->programmer->read_bytes_max;

	if (transfer_bytes > READ_STEP_BYTES)
		return READ_STEP_BYTES;
	return (uint32_t)(READ_STEP_BYTES / transfer_bytes * transfer_bytes);
}

static int read_range(
	struct flash *flash, struct range range, uint8_t *image, struct progress_step *step)
{
	const uint32_t step_bytes = read_step_bytes(flash);

	while (range.start < range.end) {
		const uint32_t left = range_bytes(range);
		const uint32_t bytes = left < step_bytes ? left : step_bytes;
		const int error =
			flash->chip->driver->read(flash, range.start, image + range.start, bytes);

		if (error != 0)
			return error;
		progress_advance(step, bytes);
		range.start += bytes;
	}
	return 0;
}

static int read_selection(struct flash *flash, struct selection selection, uint8_t *image)
{
	struct progress_step step;

	progress_begin(&step, flash->progress, PROGRESS_READ,
		ranges_bytes(selection.ranges, selection.count));
	for (size_t i = 0; i < selection.count; i++) {
		const int error = read_range(flash, selection.ranges[i], image, &step);

		if (error != 0)
			return error;
	}
	return 0;
}

static int report_no_memory(struct flash *flash)
{
	log_error(flash->log, "Out of memory for the images of a %" PRIu32 " kB chip.\n",
		flash->chip->size_bytes / 1024);
	return -ENOMEM;
}

/* Ends the line that a step began. The text overwrites the step's percentages on a terminal. */
static int finish(struct flash *flash, int error, const char *done, const char *failed)
{
	log_info(flash->log, "%s\n", error == 0 ? done : failed);
	return error;
}

int flash_read(struct flash *flash, struct selection selection, uint8_t *image)
{
	log_info(flash->log, "Reading flash... ");
	return finish(flash, read_selection(flash, selection, image), "done.", "FAILED.");
}

static int report_difference(
	struct flash *flash, struct range range, const uint8_t *found, const uint8_t *expected)
{
	uint32_t first = range.end;
	uint32_t count = 0;

	for (uint32_t at = range.end; at-- > range.start;) {
		if (found[at] != expected[at]) {
			first = at;
			count++;
		}
	}
	log_error(flash->log,
		"Verification failed at 0x%06" PRIx32 ": expected 0x%02x, found 0x%02x; %" PRIu32
		" of %" PRIu32 " bytes from 0x%06" PRIx32 " to 0x%06" PRIx32 " differ.\n",
		first, expected[first], found[first], count, range_bytes(range), range.start,
		range.end - 1);
	return -EILSEQ;
}

static int compare_selection(struct flash *flash, struct selection selection, const uint8_t *found,
	const uint8_t *expected)
{
	for (size_t i = 0; i < selection.count; i++) {
		const struct range range = selection.ranges[i];

		if (memcmp(found + range.start, expected + range.start, range_bytes(range)) != 0)
			return report_difference(flash, range, found, expected);
	}
	return 0;
}

int flash_verify(struct flash *flash, struct selection selection, const uint8_t *image)
{
	uint8_t *found = malloc(flash->chip->size_bytes);
	int error;

	if (found == NULL)
		return report_no_memory(flash);
	log_info(flash->log, "Verifying flash... ");
	error = read_selection(flash, selection, found);
	if (error == 0)
		error = compare_selection(flash, selection, found, image);
	free(found);
	return finish(flash, error, "VERIFIED.", "FAILED.");
}

/* Returns the bytes of a page to program: from the first to the last that differ. */
static struct range differing(const struct write_job *job, struct range page)
{
	if (job->flash->chip->whole_pages)
		return page;
	while (job->current[page.start] == job->target[page.start])
		page.start++;
	while (job->current[page.end - 1] == job->target[page.end - 1])
		page.end--;
	return page;
}

/* Marks the content of `range` as unknown until it is completely written. */
static void begin_change(struct write_job *job, struct range range)
{
	job->flash->written = WRITE_BEGUN;
	job->in_doubt = range;
}

/* Puts the data to program into `current`, with FFh, which programs nothing, for equal bytes. */
static const uint8_t *blank_equal_bytes(struct write_job *job, struct range range)
{
	for (uint32_t at = range.start; at < range.end; at++)
		job->current[at] = job->current[at] == job->target[at] ? 0xff : job->target[at];
	return job->current + range.start;
}

static int program_page(struct write_job *job, struct range page)
{
	const struct flash_chip *chip = job->flash->chip;
	const struct range range = differing(job, page);
	const uint8_t *data = job->target + range.start;
	int error;

	if (chip->blank_only)
		data = blank_equal_bytes(job, range);
	error = chip->driver->program(job->flash, range.start, data, range_bytes(range));
	memcpy(job->current + range.start, job->target + range.start, range_bytes(range));
	return error;
}

static bool is_equal(const struct write_job *job, struct range range)
{
	return memcmp(job->current + range.start, job->target + range.start, range_bytes(range)) ==
	       0;
}

/* `erased` is the block that was erased for this range; NULL: none was. */
static int program_range(struct write_job *job, struct range range, const struct range *erased)
{
	const uint32_t page_bytes = job->flash->chip->page_bytes;

	for (uint32_t at = range.start; at < range.end; at += page_bytes) {
		const struct range page = {at, at + page_bytes};

		if (!is_equal(job, page)) {
			int error;

			begin_change(job, erased != NULL ? *erased : page);
			error = program_page(job, page);
			if (error != 0)
				return error;
		}
		progress_advance(&job->writing, page_bytes);
	}
	return 0;
}

/* Programs each block right after its erase, so that an interruption damages one block at most. */
static int run_step(struct write_job *job, const struct erase_step *step)
{
	struct flash *flash = job->flash;
	int error;

	log_debug(flash->log, "Erasing 0x%06" PRIx32 "-0x%06" PRIx32 " with opcode %02x.\n",
		step->block.start, step->block.end - 1, step->erase->opcode);
	begin_change(job, step->block);
	error = flash->chip->driver->erase(flash, step->erase, step->block.start);
	if (error != 0)
		return error;
	progress_advance(&job->erasing, range_bytes(step->block));
	memset(job->current + step->block.start, 0xff, range_bytes(step->block));
	return program_range(job, step->block, &step->block);
}

/* Works in the order of addresses, so that after a failure all below one address is new. */
static int run_plan(struct write_job *job, const struct erase_plan *plan, struct range range)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct erase_step *step = &plan->steps[i];
		const struct range before = {range.start, step->block.start};
		int error = program_range(job, before, NULL);

		if (error == 0)
			error = run_step(job, step);
		if (error != 0)
			return error;
		range.start = step->block.end;
	}
	return program_range(job, range, NULL);
}

static uint32_t plan_bytes(const struct erase_plan *plan)
{
	uint32_t bytes = 0;

	for (size_t i = 0; i < plan->count; i++)
		bytes += range_bytes(plan->steps[i].block);
	return bytes;
}

static int plan_range(struct write_job *job, size_t nth)
{
	const struct range range = job->ranges[nth];
	struct erase_plan *plan = &job->plans[nth];

	if (erase_plan_create(job->flash->chip, range, job->current, job->target, plan) != 0)
		return report_no_memory(job->flash);
	log_debug(job->flash->log,
		"0x%06" PRIx32 "-0x%06" PRIx32 ": %zu erases, about %" PRIu64 " ms.\n", range.start,
		range.end - 1, plan->count, plan->typ_us / 1000);
	return 0;
}

/* All plans are made before the first erase, because progress reports need the total. */
static int plan_all(struct write_job *job)
{
	uint32_t erased_bytes = 0;

	for (size_t i = 0; i < job->count; i++) {
		const int error = plan_range(job, i);

		if (error != 0)
			return error;
		erased_bytes += plan_bytes(&job->plans[i]);
	}
	progress_begin(&job->erasing, job->flash->progress, PROGRESS_ERASE, erased_bytes);
	progress_begin(&job->writing, job->flash->progress, PROGRESS_WRITE,
		ranges_bytes(job->ranges, job->count));
	return 0;
}

static int write_all(struct write_job *job)
{
	int error = plan_all(job);

	for (size_t i = 0; i < job->count && error == 0; i++)
		error = run_plan(job, &job->plans[i], job->ranges[i]);
	if (error == 0 && job->flash->written == WRITE_BEGUN)
		job->flash->written = WRITE_DONE;
	return error;
}

static int erase_and_write(struct write_job *job)
{
	log_info(job->flash->log, "Erasing and writing flash chip... ");
	return finish(job->flash, write_all(job), "Erase/write done.", "Erase/write FAILED.");
}

static int read_current(struct write_job *job)
{
	const struct selection touched = {job->ranges, job->count};

	log_info(job->flash->log, "Reading old flash chip contents... ");
	return finish(
		job->flash, read_selection(job->flash, touched, job->current), "done.", "FAILED.");
}

/* Outside the selection the target is the current content. */
static void fill_target(struct write_job *job, struct selection selection, const uint8_t *image)
{
	for (size_t i = 0; i < job->count; i++) {
		const struct range touched = job->ranges[i];

		memcpy(job->target + touched.start, job->current + touched.start,
			range_bytes(touched));
	}
	for (size_t i = 0; i < selection.count; i++) {
		const struct range wanted = selection.ranges[i];

		memcpy(job->target + wanted.start, image + wanted.start, range_bytes(wanted));
	}
}

static int verify_job(
	const struct write_job *job, struct selection selection, enum verify_scope scope)
{
	switch (scope) {
	case VERIFY_NOTHING:
		return 0;
	case VERIFY_SELECTED:
		return flash_verify(job->flash, selection, job->target);
	case VERIFY_TOUCHED:
		return flash_verify(
			job->flash, (struct selection){job->ranges, job->count}, job->target);
	}
	return -EINVAL;
}

static int unprotect(struct flash *flash, bool force)
{
	const struct chip_driver *driver = flash->chip->driver;

	return driver->unprotect == NULL ? 0 : driver->unprotect(flash, force);
}

static int reprotect(struct flash *flash)
{
	const struct chip_driver *driver = flash->chip->driver;

	return driver->reprotect == NULL ? 0 : driver->reprotect(flash);
}

static int write_unprotected(struct write_job *job, bool force)
{
	int error = unprotect(job->flash, force);
	int restore_error;

	if (error == 0)
		error = erase_and_write(job);
	restore_error = reprotect(job->flash);
	return error != 0 ? error : restore_error;
}

static void report_half_done(const struct write_job *job)
{
	log_error(job->flash->log,
		"The chip is in an unknown state from 0x%06" PRIx32 " to 0x%06" PRIx32
		"; the new contents are in place below, the old ones above. Do not reset or "
		"switch off a machine that starts from it; repeat the command, which changes only "
		"what is still wrong.\n",
		job->in_doubt.start, job->in_doubt.end - 1);
}

/* Reports the state of the chip after a failure, whatever caused it. */
static int report_state(const struct write_job *job, int error)
{
	const struct log *log = job->flash->log;

	if (error == 0)
		return 0;
	if (job->flash->written == WRITE_BEGUN)
		report_half_done(job);
	else if (job->flash->written == WRITE_UNTOUCHED)
		log_error(log, "Nothing was erased or written; the chip is unchanged.\n");
	else if (error == -EILSEQ)
		log_error(log, "All was written, but the chip is in an unknown state. Repeat the "
			       "command; if the same address fails, the chip is worn out, "
			       "protected, or not the one that was found.\n");
	else
		log_error(log, "All was written, but not verified: verify (-v) once the cause is "
			       "gone.\n");
	return error;
}

static int write_job_run(struct write_job *job, struct selection selection, const uint8_t *image,
	const uint8_t *held, enum verify_scope verify, bool force)
{
	int error = 0;

	if (held != NULL)
		memcpy(job->current, held, job->flash->chip->size_bytes);
	else
		error = read_current(job);
	if (error != 0)
		return error;
	fill_target(job, selection, image);
	error = write_unprotected(job, force);
	if (error != 0)
		return error;
	return verify_job(job, selection, verify);
}

static void write_job_deinit(struct write_job *job)
{
	for (size_t i = 0; i < job->count; i++)
		erase_plan_destroy(&job->plans[i]);
	free(job->plans);
	free(job->ranges);
	free(job->current);
	free(job->target);
}

static struct range whole_blocks(const struct flash_chip *chip, struct range range)
{
	return (struct range){
		chip_smallest_block(chip, range.start).start,
		chip_smallest_block(chip, range.end - 1).end,
	};
}

static int write_job_init(struct write_job *job, struct flash *flash, struct selection selection)
{
	*job = (struct write_job){.flash = flash};
	flash->written = WRITE_UNTOUCHED;
	job->ranges = calloc(selection.count, sizeof(*job->ranges));
	job->plans = calloc(selection.count, sizeof(*job->plans));
	job->current = malloc(flash->chip->size_bytes);
	job->target = malloc(flash->chip->size_bytes);
	if (job->ranges == NULL || job->plans == NULL || job->current == NULL ||
		job->target == NULL) {
		write_job_deinit(job);
		return report_no_memory(flash);
	}
	for (size_t i = 0; i < selection.count; i++)
		job->ranges[i] = whole_blocks(flash->chip, selection.ranges[i]);
	job->count = ranges_join(job->ranges, selection.count);
	assert(job->count <= selection.count);
	return 0;
}

int flash_write(struct flash *flash, struct selection selection, const uint8_t *image,
	const uint8_t *held, enum verify_scope verify, bool force)
{
	struct write_job job;
	int error = write_job_init(&job, flash, selection);

	if (error != 0)
		return error;
	error = report_state(&job, write_job_run(&job, selection, image, held, verify, force));
	write_job_deinit(&job);
	return error;
}

int flash_erase(
	struct flash *flash, struct selection selection, enum verify_scope verify, bool force)
{
	uint8_t *blank = malloc(flash->chip->size_bytes);
	int error;

	if (blank == NULL)
		return report_no_memory(flash);
	memset(blank, 0xff, flash->chip->size_bytes);
	error = flash_write(flash, selection, blank, NULL, verify, force);
	free(blank);
	return error;
}

static int act(struct flash *flash, const struct job *job, struct selection selection)
{
	switch (job->action) {
	case JOB_READ:
		return flash_read(flash, selection, job->into);
	case JOB_WRITE:
		return flash_write(
			flash, selection, job->image, job->held, job->verify, job->force);
	case JOB_VERIFY:
		return flash_verify(flash, selection, job->image);
	case JOB_ERASE:
		return flash_erase(flash, selection, job->verify, job->force);
	}
	return -EINVAL;
}

int job_run(struct flash *flash, const struct job *job)
{
	const struct range whole = {0, flash->chip->size_bytes};
	const struct selection all = {&whole, 1};
	int error = flash_open(flash);
	int close_error;

	if (error == 0)
		error = act(flash, job, job->selection.count > 0 ? job->selection : all);
	close_error = flash_close(flash);
	return error != 0 ? error : close_error;
}
