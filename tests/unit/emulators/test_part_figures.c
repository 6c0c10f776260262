/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures copied by hand from the datasheets, to check the generator's figures from chips/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/dataflash.h"
#include "model/parallel.h"
#include "model/part.h"
#include "model/spi.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

static void assert_figure(struct figure figure, uint64_t ns, enum grade grade)
{
	assert_int_equal(figure.ns, ns);
	assert_int_equal(figure.grade, grade);
}

static void assert_busy(const struct busy_time *busy, uint64_t typ_ns, uint64_t max_ns)
{
	assert_figure(busy->min, typ_ns / 2, GRADE_ASSUMED);
	assert_figure(busy->typ, typ_ns, GRADE_DATASHEET);
	assert_figure(busy->max, max_ns, GRADE_DATASHEET);
}

static void assert_erase(const struct part_erase *erase, uint8_t opcode, uint32_t size_bytes,
	uint64_t typ_ns, uint64_t max_ns)
{
	assert_int_equal(erase->opcode, opcode);
	assert_int_equal(erase->size_bytes, size_bytes);
	assert_busy(&erase->busy, typ_ns, max_ns);
}

static void w25q128jv_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("W25Q128JV");

	(void)state;
	assert_int_equal(part->size_bytes, 16 << 20);
	assert_int_equal(part->page_bytes, 256);
	assert_int_equal(part->spi->rdid[0], 0xEF);
	assert_int_equal(part->spi->rdid[1], 0x40);
	assert_int_equal(part->spi->rdid[2], 0x18);
	assert_int_equal(part->erase_count, 5);
	assert_erase(&part->erases[0], 0x20, 4 << 10, 45 * MS, 400 * MS);
	assert_erase(&part->erases[1], 0x52, 32 << 10, 120 * MS, 1600 * MS);
	assert_erase(&part->erases[2], 0xD8, 64 << 10, 150 * MS, 2 * S);
	assert_erase(&part->erases[3], 0xC7, 16 << 20, 40 * S, 200 * S);
	assert_erase(&part->erases[4], 0x60, 16 << 20, 40 * S, 200 * S);
	assert_busy(&part->spi->page_program, 700 * US, 3 * MS);
	assert_busy(&part->spi->write_status, 10 * MS, 15 * MS);
	assert_figure(part->spi->deep_power_down, 3 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down, 3 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down_with_id, 1800, GRADE_DATASHEET);
	assert_figure(part->spi->soft_reset, 30 * US, GRADE_DATASHEET);
	assert_string_equal(part_flashrom_names(part)[0], "W25Q128.V");
}

static void m25p80_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("M25P80");

	(void)state;
	assert_int_equal(part->size_bytes, 1 << 20);
	assert_int_equal(part->spi->rdid[0], 0x20);
	assert_int_equal(part->spi->rdid[1], 0x20);
	assert_int_equal(part->spi->rdid[2], 0x14);
	assert_int_equal(part->spi->res, 0x13);
	assert_false(part->spi->has_rems);
	assert_int_equal(part->erase_count, 2);
	assert_erase(&part->erases[0], 0xD8, 64 << 10, 600 * MS, 3 * S);
	assert_erase(&part->erases[1], 0xC7, 1 << 20, 8 * S, 20 * S);
	assert_busy(&part->spi->page_program, 640 * US, 5 * MS);
	assert_busy(&part->spi->write_status, 1300 * US, 15 * MS);
	assert_figure(part->spi->deep_power_down, 3 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down, 30 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down_with_id, 30 * US, GRADE_DATASHEET);
	assert_int_equal(part->spi->soft_reset.ns, 0);
}

static void sst39sf040_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("SST39SF040");
	const struct part_parallel *parallel = part->parallel;

	(void)state;
	assert_null(part->spi);
	assert_int_equal(part->size_bytes, 512 << 10);
	assert_int_equal(parallel->bus, PARALLEL_BUS_PARALLEL);
	assert_int_equal(parallel->maker, 0xBF);
	assert_int_equal(parallel->device, 0xB7);
	assert_busy(&parallel->program, 14 * US, 20 * US);
	assert_int_equal(part->erase_count, 2);
	assert_int_equal(part->erases[0].opcode, 0x30);
	assert_int_equal(part->erases[0].size_bytes, 4 << 10);
	assert_figure(part->erases[0].busy.typ, 18 * MS, GRADE_DATASHEET);
	assert_figure(part->erases[0].busy.max, 72 * MS, GRADE_ASSUMED); /* no source has it */
	assert_int_equal(part->erases[1].opcode, 0x10);
	assert_figure(part->erases[1].busy.typ, 70 * MS, GRADE_DATASHEET);
	assert_figure(parallel->id_entry_wait, 150, GRADE_SECONDARY);
	assert_figure(parallel->id_exit_wait, 150, GRADE_SECONDARY);
	assert_int_equal(parallel->erase_window.ns, 0);
}

static void at29c020_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("AT29C020");
	const struct part_parallel *parallel = part->parallel;

	(void)state;
	assert_int_equal(part->size_bytes, 256 << 10);
	assert_int_equal(part->page_bytes, 256);
	assert_int_equal(parallel->maker, 0x1F);
	assert_int_equal(parallel->device, 0xDA);
	assert_figure(parallel->program.max, 10 * MS, GRADE_DATASHEET);
	assert_figure(parallel->load.window, 150 * US, GRADE_DATASHEET);
	assert_false(parallel->load.unloaded_erased);
	assert_figure(parallel->id_entry_wait, 10 * MS, GRADE_SECONDARY);
}

static void at49f002_has_its_sectors_from_the_boot_block_up(void **state)
{
	static const uint32_t kib[] = {0, 16, 24, 32, 128, 256};
	const struct part *part = part_find("AT49F002");
	struct part_block block;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		assert_true(part_erase_block(&part->erases[0], (kib[i + 1] << 10) - 1, &block));
		assert_int_equal(block.address, kib[i] << 10);
		assert_int_equal(block.size_bytes, (kib[i + 1] - kib[i]) << 10);
	}
	assert_figure(part->erases[1].busy.max, 10 * S, GRADE_DATASHEET);
	assert_int_equal(part->parallel->id_entry_wait.ns, 0);
}

static void lpc_and_fwh_parts_are_on_their_buses(void **state)
{
	static const struct {
		const char *name;
		enum parallel_bus bus;
		uint8_t maker;
		uint8_t device;
		uint32_t lock_block_bytes;
	} rows[] = {
		{"W39V040A", PARALLEL_BUS_LPC, 0xDA, 0x3D, 0},
		{"SST49LF040", PARALLEL_BUS_LPC, 0xBF, 0x51, 0},
		{"SST49LF004B", PARALLEL_BUS_FWH, 0xBF, 0x60, 64 << 10},
		{"82802AB", PARALLEL_BUS_FWH, 0x89, 0xAD, 64 << 10},
		{"M50FW040", PARALLEL_BUS_FWH, 0x20, 0x2C, 64 << 10},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct part_parallel *parallel = part_find(rows[i].name)->parallel;

		assert_int_equal(parallel->bus, rows[i].bus);
		assert_int_equal(parallel->maker, rows[i].maker);
		assert_int_equal(parallel->device, rows[i].device);
		assert_int_equal(parallel->registers.lock_block_bytes, rows[i].lock_block_bytes);
	}
}

static void missing_maximum_is_assumed_from_the_typical(void **state)
{
	const struct busy_time *busy = &part_find("MX25L6436F")->spi->page_program;

	(void)state;
	assert_figure(busy->min, 165 * US, GRADE_ASSUMED);
	assert_figure(busy->typ, 330 * US, GRADE_SECONDARY);
	assert_figure(busy->max, 1320 * US, GRADE_ASSUMED);
}

static void missing_typical_is_assumed_from_the_maximum(void **state)
{
	const struct busy_time *busy = &part_find("AT25SF161")->spi->write_status;

	(void)state;
	assert_figure(busy->min, 3750 * US, GRADE_ASSUMED);
	assert_figure(busy->typ, 7500 * US, GRADE_ASSUMED);
	assert_figure(busy->max, 15 * MS, GRADE_DATASHEET);
}

/* Figures from other sources than datasheets. */
static void assert_graded(const struct busy_time *busy, uint64_t typ_ns, enum grade typ,
	uint64_t max_ns, enum grade max)
{
	assert_figure(busy->typ, typ_ns, typ);
	assert_figure(busy->max, max_ns, max);
}

static const struct part_erase *erase_of(const struct part *part, uint8_t opcode)
{
	const struct part_erase *erase = part_erase_find(part, opcode);

	assert_non_null(erase);
	return erase;
}

static void w25q16jv_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("W25Q16JV");

	(void)state;
	assert_int_equal(part->size_bytes, 2 << 20);
	assert_memory_equal(part->spi->rdid, ((uint8_t[]){0xEF, 0x40, 0x15}), 3);
	assert_int_equal(part->erase_count, 5);
	assert_erase(&part->erases[0], 0x20, 4 << 10, 45 * MS, 400 * MS);
	assert_erase(&part->erases[1], 0x52, 32 << 10, 120 * MS, 1600 * MS);
	assert_erase(&part->erases[2], 0xD8, 64 << 10, 150 * MS, 2 * S);
	assert_erase(&part->erases[3], 0xC7, 2 << 20, 5 * S, 25 * S);
	assert_erase(&part->erases[4], 0x60, 2 << 20, 5 * S, 25 * S);
	assert_busy(&part->spi->page_program, 400 * US, 3 * MS);
	assert_int_equal(part->spi->byte_program_first.max.ns, 0);
	assert_busy(&part->spi->write_status, 10 * MS, 15 * MS);
	assert_figure(part->spi->deep_power_down, 3 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down, 3 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down_with_id, 1800, GRADE_DATASHEET);
	assert_figure(part->spi->soft_reset, 30 * US, GRADE_DATASHEET);
	assert_figure(part->spi->suspend_latency, 20 * US, GRADE_DATASHEET);
	assert_figure(part->spi->power_up_to_select, 20 * US, GRADE_DATASHEET);
	assert_figure(part->spi->power_up_to_write, 5 * MS, GRADE_DATASHEET);
}

static void w25q64fv_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("W25Q64FV");

	(void)state;
	assert_int_equal(part->size_bytes, 8 << 20);
	assert_memory_equal(part->spi->rdid, ((uint8_t[]){0xEF, 0x40, 0x17}), 3);
	assert_erase(&part->erases[0], 0x20, 4 << 10, 30 * MS, 400 * MS);
	assert_erase(&part->erases[1], 0x52, 32 << 10, 120 * MS, 1600 * MS);
	assert_erase(&part->erases[2], 0xD8, 64 << 10, 150 * MS, 2 * S);
	assert_erase(&part->erases[3], 0xC7, 8 << 20, 30 * S, 120 * S);
	assert_busy(&part->spi->page_program, 700 * US, 3 * MS);
	assert_busy(&part->spi->byte_program_first, 20 * US, 50 * US);
	assert_busy(&part->spi->byte_program_next, 2500, 10 * US);
	assert_busy(&part->spi->write_status, 15 * MS, 20 * MS);
	assert_figure(part->spi->release_power_down, 30 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down_with_id, 30 * US, GRADE_DATASHEET);
	assert_figure(part->spi->power_up_to_select, 10 * US, GRADE_DATASHEET);
	assert_figure(part->spi->power_up_to_write, 10 * MS, GRADE_DATASHEET);
}

static void gd25q16c_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("GD25Q16C");

	(void)state;
	assert_memory_equal(part->spi->rdid, ((uint8_t[]){0xC8, 0x40, 0x15}), 3);
	assert_erase(&part->erases[0], 0x20, 4 << 10, 45 * MS, 300 * MS);
	assert_erase(&part->erases[1], 0x52, 32 << 10, 150 * MS, 1200 * MS);
	assert_erase(&part->erases[2], 0xD8, 64 << 10, 250 * MS, 2 * S);
	assert_erase(&part->erases[3], 0xC7, 2 << 20, 7 * S, 20 * S);
	assert_busy(&part->spi->page_program, 600 * US, 2400 * US);
	assert_busy(&part->spi->byte_program_first, 30 * US, 50 * US);
	assert_busy(&part->spi->byte_program_next, 2500, 12 * US);
	assert_busy(&part->spi->write_status, 5 * MS, 30 * MS);
	assert_figure(part->spi->deep_power_down, 20 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down, 20 * US, GRADE_DATASHEET);
	assert_figure(part->spi->soft_reset, 30 * US, GRADE_DATASHEET);
	assert_figure(part->spi->soft_reset_during_program, 30 * US, GRADE_DATASHEET);
	assert_figure(part->spi->soft_reset_during_erase, 12 * MS, GRADE_DATASHEET);
	assert_figure(part->spi->power_up_to_select, 1800 * US, GRADE_DATASHEET);
}

static void is25lp128_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("IS25LP128");

	(void)state;
	assert_memory_equal(part->spi->rdid, ((uint8_t[]){0x9D, 0x60, 0x18}), 3);
	assert_int_equal(part->erase_count, 6);
	assert_erase(&part->erases[0], 0x20, 4 << 10, 45 * MS, 300 * MS);
	assert_erase(&part->erases[1], 0xD7, 4 << 10, 45 * MS, 300 * MS);
	assert_erase(&part->erases[2], 0x52, 32 << 10, 150 * MS, 750 * MS);
	assert_erase(&part->erases[3], 0xD8, 64 << 10, 300 * MS, 1500 * MS);
	assert_erase(&part->erases[4], 0xC7, 16 << 20, 30 * S, 90 * S);
	assert_busy(&part->spi->page_program, 200 * US, 1 * MS);
	assert_busy(&part->spi->write_status, 2 * MS, 15 * MS);
	assert_figure(part->spi->deep_power_down, 3 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down_with_id, 3 * US, GRADE_DATASHEET);
	assert_figure(part->spi->soft_reset, 100 * US, GRADE_DATASHEET);
	assert_figure(part->spi->suspend_latency, 100 * US, GRADE_DATASHEET);
	assert_figure(part->spi->power_up_to_write, 10 * MS, GRADE_DATASHEET);
}

static void at25sf161_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("AT25SF161");

	(void)state;
	assert_memory_equal(part->spi->rdid, ((uint8_t[]){0x1F, 0x86, 0x01}), 3);
	assert_erase(&part->erases[0], 0x20, 4 << 10, 60 * MS, 300 * MS);
	assert_erase(&part->erases[1], 0x52, 32 << 10, 300 * MS, 1300 * MS);
	assert_erase(&part->erases[2], 0xD8, 64 << 10, 500 * MS, 3 * S);
	assert_erase(&part->erases[3], 0xC7, 2 << 20, 15 * S, 25 * S);
	assert_busy(&part->spi->page_program, 700 * US, 2500 * US);
	assert_figure(part->spi->write_status.max, 15 * MS, GRADE_DATASHEET);
	assert_figure(part->spi->deep_power_down, 1 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down, 5 * US, GRADE_DATASHEET);
	assert_int_equal(part->spi->soft_reset.ns, 0);
	assert_figure(part->spi->power_up_to_write, 10 * MS, GRADE_DATASHEET);
}

static void sst25vf040b_has_its_typicals_from_the_datasheet(void **state)
{
	const struct part *part = part_find("SST25VF040B");

	(void)state;
	assert_int_equal(part->size_bytes, 512 << 10);
	assert_int_equal(part->page_bytes, 1);
	assert_graded(&part->spi->page_program, 7 * US, GRADE_DATASHEET, 28 * US, GRADE_ASSUMED);
	assert_graded(
		&erase_of(part, 0x20)->busy, 18 * MS, GRADE_DATASHEET, 72 * MS, GRADE_ASSUMED);
	assert_graded(
		&erase_of(part, 0xD8)->busy, 18 * MS, GRADE_DATASHEET, 72 * MS, GRADE_ASSUMED);
	assert_graded(
		&erase_of(part, 0x60)->busy, 35 * MS, GRADE_DATASHEET, 140 * MS, GRADE_ASSUMED);
	assert_int_equal(part->spi->write_status.max.ns, 0);
	assert_int_equal(part->spi->clock_hz_max, 50000000);
}

static void sst26vf064b_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("SST26VF064B");

	(void)state;
	assert_memory_equal(part->spi->rdid, ((uint8_t[]){0xBF, 0x26, 0x43}), 3);
	assert_graded(
		&erase_of(part, 0x20)->busy, 18 * MS, GRADE_DATASHEET, 25 * MS, GRADE_DATASHEET);
	assert_graded(
		&erase_of(part, 0xD8)->busy, 18 * MS, GRADE_DATASHEET, 25 * MS, GRADE_DATASHEET);
	assert_graded(
		&erase_of(part, 0xC7)->busy, 35 * MS, GRADE_DATASHEET, 50 * MS, GRADE_DATASHEET);
	assert_graded(
		&part->spi->page_program, 750 * US, GRADE_ASSUMED, 1500 * US, GRADE_SECONDARY);
	assert_figure(part->spi->soft_reset_during_program, 100 * US, GRADE_SECONDARY);
	assert_figure(part->spi->soft_reset_during_erase, 1 * MS, GRADE_SECONDARY);
}

static void m95m02_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("M95M02-DR");

	(void)state;
	assert_int_equal(part->size_bytes, 256 << 10);
	assert_int_equal(part->page_bytes, 256);
	assert_int_equal(part->erase_count, 0);
	assert_int_equal(part->spi->clock_hz_max, 5000000);
	assert_graded(&part->spi->page_program, 5 * MS, GRADE_ASSUMED, 10 * MS, GRADE_DATASHEET);
}

static void s25fl128s_of_both_kinds_differ_in_page_and_sector(void **state)
{
	const struct part *small = part_find("S25FL128S_64K");
	const struct part *large = part_find("S25FL128S_256K");

	(void)state;
	assert_int_equal(small->page_bytes, 256);
	assert_int_equal(large->page_bytes, 512);
	assert_int_equal(small->spi->rdid[4], 0x01);
	assert_int_equal(large->spi->rdid[4], 0x00);
	assert_figure(erase_of(small, 0xD8)->busy.max, 650 * MS, GRADE_SECONDARY);
	assert_figure(erase_of(large, 0xD8)->busy.max, 1875 * MS, GRADE_SECONDARY);
	assert_figure(erase_of(small, 0x60)->busy.max, 165 * S, GRADE_SECONDARY);
	assert_graded(
		&small->spi->write_status, 100 * MS, GRADE_ASSUMED, 200 * MS, GRADE_SECONDARY);
	assert_graded(
		&small->spi->page_program, 275 * US, GRADE_ASSUMED, 550 * US, GRADE_SECONDARY);
	assert_graded(
		&large->spi->page_program, 375 * US, GRADE_ASSUMED, 750 * US, GRADE_SECONDARY);
	assert_figure(small->spi->soft_reset, 35 * US, GRADE_SECONDARY);
	assert_int_equal(small->spi->deep_power_down.ns, 0);
}

static void at45db321d_has_pages_of_two_sizes(void **state)
{
	const struct part *part = part_find("AT45DB321D");

	(void)state;
	assert_int_equal(part->size_bytes, 8192 * 528);
	assert_int_equal(part->dataflash->binary_page_bytes, 512);
	assert_graded(&erase_of(part, 0x81)->busy, 10 * MS, GRADE_ASSUMED, 40 * MS, GRADE_ASSUMED);
	assert_graded(&part->spi->page_program, 700 * US, GRADE_ASSUMED, 2800 * US, GRADE_ASSUMED);
	assert_figure(part->dataflash->page_to_buffer.max, 800 * US, GRADE_ASSUMED);
	assert_figure(part->spi->release_power_down, 100 * US, GRADE_ASSUMED);
}

/* The rule for figures without a source, as the README states it. */
static void figure_without_any_source_is_assumed_by_its_family(void **state)
{
	const struct part *part = part_find("MX25L25635F");

	(void)state;
	assert_graded(&erase_of(part, 0x20)->busy, 50 * MS, GRADE_ASSUMED, 200 * MS, GRADE_ASSUMED);
	assert_graded(
		&erase_of(part, 0x52)->busy, 150 * MS, GRADE_ASSUMED, 600 * MS, GRADE_ASSUMED);
	assert_graded(&erase_of(part, 0xD8)->busy, 250 * MS, GRADE_ASSUMED, 1 * S, GRADE_ASSUMED);
	assert_graded(&erase_of(part, 0xC7)->busy, 80 * S, GRADE_ASSUMED, 320 * S, GRADE_ASSUMED);
	assert_graded(&part->spi->page_program, 700 * US, GRADE_ASSUMED, 2800 * US, GRADE_ASSUMED);
	assert_graded(&part->spi->write_status, 10 * MS, GRADE_ASSUMED, 40 * MS, GRADE_ASSUMED);
	assert_figure(part->spi->release_power_down, 100 * US, GRADE_ASSUMED);
	assert_figure(part->spi->soft_reset, 100 * US, GRADE_ASSUMED);
}

/* Typical times are of the maker's model, maxima from users of the part. */
static void mx25l25635e_has_the_maxima_of_its_users(void **state)
{
	const struct part *part = part_find("MX25L25635E");
	const struct busy_time *sector = &part_erase_find(part, 0x20)->busy;
	const struct busy_time *block = &part_erase_find(part, 0xD8)->busy;

	(void)state;
	assert_figure(sector->typ, 60 * MS, GRADE_SECONDARY);
	assert_figure(sector->max, 300 * MS, GRADE_SECONDARY);
	assert_figure(block->typ, 700 * MS, GRADE_SECONDARY);
	assert_figure(block->max, 2 * S, GRADE_SECONDARY);
}

static void s25fs128s_is_as_its_model_says(void **state)
{
	const struct part *part = part_find("S25FS128S");

	(void)state;
	assert_int_equal(part->spi->rdid[5], 0x81);
	assert_graded(
		&erase_of(part, 0xD8)->busy, 145 * MS, GRADE_SECONDARY, 725 * MS, GRADE_SECONDARY);
	assert_graded(
		&part->spi->write_status, 145 * MS, GRADE_SECONDARY, 750 * MS, GRADE_SECONDARY);
	assert_figure(part->spi->page_program.max, 900 * US, GRADE_SECONDARY);
	assert_figure(part->spi->soft_reset, 35 * US, GRADE_SECONDARY);
	assert_figure(part->spi->power_up_to_select, 300 * US, GRADE_SECONDARY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(w25q128jv_is_as_its_datasheet_says),
		cmocka_unit_test(w25q16jv_is_as_its_datasheet_says),
		cmocka_unit_test(w25q64fv_is_as_its_datasheet_says),
		cmocka_unit_test(gd25q16c_is_as_its_datasheet_says),
		cmocka_unit_test(is25lp128_is_as_its_datasheet_says),
		cmocka_unit_test(at25sf161_is_as_its_datasheet_says),
		cmocka_unit_test(m25p80_is_as_its_datasheet_says),
		cmocka_unit_test(sst25vf040b_has_its_typicals_from_the_datasheet),
		cmocka_unit_test(sst26vf064b_is_as_its_datasheet_says),
		cmocka_unit_test(m95m02_is_as_its_datasheet_says),
		cmocka_unit_test(s25fl128s_of_both_kinds_differ_in_page_and_sector),
		cmocka_unit_test(s25fs128s_is_as_its_model_says),
		cmocka_unit_test(at45db321d_has_pages_of_two_sizes),
		cmocka_unit_test(sst39sf040_is_as_its_datasheet_says),
		cmocka_unit_test(at29c020_is_as_its_datasheet_says),
		cmocka_unit_test(at49f002_has_its_sectors_from_the_boot_block_up),
		cmocka_unit_test(lpc_and_fwh_parts_are_on_their_buses),
		cmocka_unit_test(missing_maximum_is_assumed_from_the_typical),
		cmocka_unit_test(missing_typical_is_assumed_from_the_maximum),
		cmocka_unit_test(figure_without_any_source_is_assumed_by_its_family),
		cmocka_unit_test(mx25l25635e_has_the_maxima_of_its_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
