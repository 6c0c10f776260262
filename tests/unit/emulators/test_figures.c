/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the figures of parts that were typed from datasheets into figures/SOURCE.txt with those
 * that the generator makes from chips/. A line (dialogue.h) is one of
 *
 *     NAME is                 sizes in bytes; bus and ID, or SPI IDs and clock; flashrom's name
 *     NAME erases             opcode, size of the smallest block, typ-max
 *     NAME works              its other busy times, typ-max
 *     NAME waits              the waits that a client must keep
 *
 * `~` follows a figure from a source that is no datasheet, `?` one that is assumed. A busy time is
 * min-typ-max unless its min is half of typ, and assumed.
 */
#include <stdio.h>
#include <string.h>

#include "dialogue.h"
#include "model/dataflash.h"
#include "model/parallel.h"
#include "model/spi.h"

#define FIGURE_TEXT_BYTES 24

/* Returns the time in the largest whole unit, with its grade. */
static const char *text_of(struct figure figure, char text[FIGURE_TEXT_BYTES])
{
	static const char *const grades[] = {
		[GRADE_DATASHEET] = "", [GRADE_SECONDARY] = "~", [GRADE_ASSUMED] = "?"};
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned long long count = figure.ns;
	size_t unit = 0;

	for (; unit < 3 && count > 0 && count % 1000 == 0; unit++)
		count /= 1000;
	snprintf(text, FIGURE_TEXT_BYTES, "%llu%s%s", count, units[unit], grades[figure.grade]);
	return text;
}

static void put_figure(struct dialogue *dialogue, const char *name, struct figure figure)
{
	char text[FIGURE_TEXT_BYTES];

	if (figure.ns > 0)
		put(dialogue, "%s=%s", name, text_of(figure, text));
}

static void put_busy(struct dialogue *dialogue, const char *name, const struct busy_time *busy)
{
	bool is_half = busy->min.ns == busy->typ.ns / 2 && busy->min.grade == GRADE_ASSUMED;
	char min[FIGURE_TEXT_BYTES];
	char typ[FIGURE_TEXT_BYTES];
	char max[FIGURE_TEXT_BYTES];

	if (busy->max.ns > 0)
		put(dialogue, "%s=%s%s%s-%s", name, is_half ? "" : text_of(busy->min, min),
			is_half ? "" : "-", text_of(busy->typ, typ), text_of(busy->max, max));
}

static void put_hex(struct dialogue *dialogue, const char *name, const uint8_t *bytes, size_t len)
{
	char text[2 * SPI_RDID_BYTES_MAX + 1] = "";

	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	if (len > 0)
		put(dialogue, "%s=%s", name, text);
}

static void put_identity(struct dialogue *dialogue, const struct part *part)
{
	static const char *const buses[] = {"parallel", "LPC", "FWH"};
	const struct part_parallel *parallel = part->parallel;

	put(dialogue, "size=%u page=%u", (unsigned int)part->size_bytes,
		(unsigned int)part->page_bytes);
	if (part->dataflash)
		put(dialogue, "binary_page=%u", (unsigned int)part->dataflash->binary_page_bytes);
	if (parallel) {
		put(dialogue, "%s", buses[parallel->bus]);
		put_hex(dialogue, "id", (const uint8_t[]){parallel->maker, parallel->device}, 2);
		if (parallel->registers.lock_block_bytes > 0)
			put(dialogue, "lock_block=%u",
				(unsigned int)parallel->registers.lock_block_bytes);
		if (parallel->load.unloaded_erased)
			put(dialogue, "unloaded_erased");
	} else {
		put_hex(dialogue, "rdid", part->spi->rdid, part->spi->rdid_len);
		put_hex(dialogue, "res", &part->spi->res, part->spi->has_res);
		put(dialogue, "clock=%u", (unsigned int)part->spi->clock_hz_max);
	}
	put(dialogue, "%s", part_flashrom_names(part)[0]);
}

static void put_erases(struct dialogue *dialogue, const struct part *part)
{
	char name[16];

	for (size_t i = 0; i < part->erase_count; i++) {
		snprintf(name, sizeof(name), "%02x:%u", part->erases[i].opcode,
			(unsigned int)part->erases[i].size_bytes);
		put_busy(dialogue, name, &part->erases[i].busy);
	}
}

static void put_works(struct dialogue *dialogue, const struct part *part)
{
	if (part->parallel) {
		put_busy(dialogue, "program", &part->parallel->program);
		return;
	}
	put_busy(dialogue, "program", &part->spi->page_program);
	put_busy(dialogue, "first_byte", &part->spi->byte_program_first);
	put_busy(dialogue, "next_byte", &part->spi->byte_program_next);
	put_busy(dialogue, "write_status", &part->spi->write_status);
	if (part->dataflash)
		put_busy(dialogue, "page_to_buffer", &part->dataflash->page_to_buffer);
}

/* Appends the figure, unless it is the @usual one. */
static void put_other(
	struct dialogue *dialogue, const char *name, struct figure figure, struct figure usual)
{
	if (figure.ns != usual.ns || figure.grade != usual.grade)
		put_figure(dialogue, name, figure);
}

static void put_waits(struct dialogue *dialogue, const struct part *part)
{
	const struct part_spi *spi = part->spi;

	if (part->parallel) {
		put_figure(dialogue, "id_entry", part->parallel->id_entry_wait);
		put_figure(dialogue, "id_exit", part->parallel->id_exit_wait);
		put_figure(dialogue, "erase_window", part->parallel->erase_window);
		put_figure(dialogue, "load_window", part->parallel->load.window);
		return;
	}
	put_figure(dialogue, "tDP", spi->deep_power_down);
	put_figure(dialogue, "tRES1", spi->release_power_down);
	put_other(dialogue, "tRES2", spi->release_power_down_with_id, spi->release_power_down);
	put_figure(dialogue, "reset", spi->soft_reset);
	put_other(dialogue, "in_program", spi->soft_reset_during_program, spi->soft_reset);
	put_other(dialogue, "in_erase", spi->soft_reset_during_erase, spi->soft_reset);
	put_other(dialogue, "in_status", spi->soft_reset_during_write_status, spi->soft_reset);
	put_figure(dialogue, "tSUS", spi->suspend_latency);
	put_figure(dialogue, "tVSL", spi->power_up_to_select);
	put_figure(dialogue, "tPUW", spi->power_up_to_write);
}

static const struct {
	const char *name;
	void (*put)(struct dialogue *dialogue, const struct part *part);
} verbs[] = {
	{"is", put_identity}, {"erases", put_erases}, {"works", put_works}, {"waits", put_waits}};

static bool run_line(void *context, const char *first)
{
	const struct part *part = part_find(first);
	char *verb = next_word();

	for (size_t i = 0; part && verb && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verb, verbs[i].name) == 0) {
			verbs[i].put(context, part);
			return true;
		}
	}
	return false;
}

int main(int argc, char *argv[])
{
	struct dialogue dialogue;

	return dialogue_main(argc, argv, &dialogue, run_line, &dialogue);
}
