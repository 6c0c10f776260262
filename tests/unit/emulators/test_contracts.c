/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests every wait of every part in the table. At its end the part obeys with a margin of 0; one
 * nanosecond earlier it refuses the command with a margin of -1. A window is the reverse: one
 * nanosecond after its end is too late. New parts and figures in chips/ are covered at once.
 */
#include <stdio.h>

#include "../run_cases.h"
#include "bench.h"

#define ARRAY_512K UINT32_C(0xF80000) /* an address in the array of every LPC or FWH part */

static const char *const corners[] = {"min", "typ", "max", "draw:5", "slow:3"};

/*
 * Brings a new part to the beginning of the wait, number bench->which of its kind, and sets
 * *@allowed_ns to its end. Returns false if the part has no such wait.
 */
typedef bool (*begin_fn)(struct bench *bench, uint64_t *allowed_ns);

/* Sends a command to which the wait applies, at bench->now_ns. */
typedef void (*follow_fn)(struct bench *bench);

struct contract {
	const char *name;
	begin_fn begin;
	follow_fn follow;
	enum chip_rule rule;
	size_t count; /* the number of waits of this kind, such as erases */
	bool is_window;
};

/* Cycles take their time on the bus, and the next one follows at once. */

static void bench_write(struct bench *bench, uint32_t address, uint8_t value)
{
	uint64_t end_ns = bench->now_ns + bench->chip.part->parallel->cycle_ns;

	chip_write_cycle(&bench->chip, bench->now_ns, end_ns, address, value, &bench->facts);
	bench->now_ns = end_ns;
}

static uint8_t bench_get(struct bench *bench, uint32_t address)
{
	uint64_t end_ns = bench->now_ns + bench->chip.part->parallel->cycle_ns;
	uint8_t value =
		chip_read_cycle(&bench->chip, bench->now_ns, end_ns, address, &bench->facts);

	bench->now_ns = end_ns;
	return value;
}

/* Kinds of parts. */

static bool is_parallel(const struct bench *bench)
{
	return bench->chip.part->parallel != NULL;
}

static bool is_jedec(const struct bench *bench)
{
	return is_parallel(bench) && bench->chip.part->family != PART_FWH;
}

static bool is_nor(const struct bench *bench)
{
	return bench->chip.part->family == PART_SPI_NOR;
}

static uint32_t base_of(const struct bench *bench)
{
	return bench->chip.part->parallel->bus == PARALLEL_BUS_PARALLEL ? 0 : ARRAY_512K;
}

static void unlock_all(struct bench *bench)
{
	const struct part_parallel *parallel = bench->chip.part->parallel;

	if (!parallel) {
		bench_write_register(bench, 0x01, (const uint8_t[]){0x00}, 1);
		bench_finish_work(bench);
		bench_op(bench, 0x06, 0);
		bench_op(bench, 0x98, 0);
	}
	for (size_t i = 0; parallel && i < PARALLEL_BLOCKS_MAX; i++)
		bench->chip.parallel.locks[i] = 0;
}

/* Writes @value to a JEDEC part, after AAh and 55h. */
static void write_unlocked(struct bench *bench, uint32_t address, uint8_t value)
{
	const struct part_unlock *unlock = &bench->chip.part->parallel->unlock;
	uint32_t base = base_of(bench);

	bench_write(bench, base + unlock->addresses[0], 0xAA);
	bench_write(bench, base + unlock->addresses[1], 0x55);
	bench_write(bench, base + address, value);
}

static void send_jedec(struct bench *bench, uint8_t command)
{
	write_unlocked(bench, bench->chip.part->parallel->unlock.addresses[0], command);
}

static void send_jedec_setup(struct bench *bench, uint32_t address, uint8_t value)
{
	send_jedec(bench, 0x80);
	write_unlocked(bench, address, value);
}

/* Commands to which waits apply. */

static void follow_by_read(struct bench *bench)
{
	if (is_parallel(bench))
		bench_get(bench, base_of(bench));
	else
		bench_op_at(bench, 0x03, 0, 1);
}

static void follow_by_write(struct bench *bench)
{
	if (is_jedec(bench))
		bench_write(bench, base_of(bench) + bench->chip.part->parallel->unlock.addresses[0],
			0xAA);
	else if (is_parallel(bench))
		bench_write(bench, base_of(bench), 0xFF);
	else if (bench->chip.part->dataflash)
		bench_op_at(bench, 0x81, 0, 0);
	else
		bench_op(bench, 0x06, 0);
}

static void follow_by_release(struct bench *bench)
{
	bench_op(bench, 0xAB, 0);
}

/* Busy times. */

static bool began(const struct bench *bench, enum chip_work work, uint64_t *allowed_ns)
{
	if (bench->facts.work != work || bench->facts.rule != CHIP_RULE_NONE)
		return false;
	*allowed_ns = bench->facts.busy_until_ns;
	return true;
}

static void send_spi_erase(struct bench *bench, const struct part_erase *erase)
{
	bool whole = erase->size_bytes == bench->chip.part->size_bytes;
	bool four_bytes = erase->opcode == 0x21 || erase->opcode == 0x53 || erase->opcode == 0x5C ||
			  erase->opcode == 0xDC;

	if (!bench->chip.part->dataflash)
		bench_op(bench, 0x06, 0);
	if (whole && bench->chip.part->dataflash)
		bench_send(bench, (const uint8_t[]){0xC7, 0x94, 0x80, 0x9A}, 4, 0);
	else if (whole)
		bench_op(bench, erase->opcode, 0);
	else if (four_bytes)
		bench_op_at4(bench, erase->opcode, 0, 0);
	else
		bench_op_at(bench, erase->opcode, 0, 0);
}

static void send_cycle_erase(struct bench *bench, const struct part_erase *erase)
{
	bool whole = erase->opcode == 0x10;

	if (bench->chip.part->family == PART_FWH) {
		bench_write(bench, base_of(bench), erase->opcode);
		bench_write(bench, base_of(bench), 0xD0);
	} else {
		send_jedec_setup(bench, whole ? bench->chip.part->parallel->unlock.addresses[0] : 0,
			erase->opcode);
	}
}

static bool begin_erase(struct bench *bench, uint64_t *allowed_ns)
{
	const struct part *part = bench->chip.part;
	const size_t which = bench->which;

	if (which >= part->erase_count)
		return false;
	if (is_parallel(bench))
		send_cycle_erase(bench, &part->erases[which]);
	else
		send_spi_erase(bench, &part->erases[which]);
	if (!began(bench, CHIP_WORK_ERASE, allowed_ns))
		fail_msg("%s: erase %zu did not begin", part->name, which);
	return true;
}

static void send_cycle_program(struct bench *bench)
{
	if (bench->chip.part->family == PART_FWH)
		bench_write(bench, base_of(bench), 0x40);
	else
		send_jedec(bench, 0xA0);
	bench_write(bench, base_of(bench), 0x5A);
}

static bool begin_program(struct bench *bench, uint64_t *allowed_ns)
{
	if (is_parallel(bench))
		send_cycle_program(bench);
	else if (bench->chip.part->dataflash)
		bench_send(bench, (const uint8_t[]){0x82, 0, 0, 0, 0x5A}, 5, 0);
	else
		bench_program(bench, 0, (const uint8_t[]){0x5A}, 1);
	if (!began(bench, CHIP_WORK_PROGRAM, allowed_ns))
		fail_msg("%s: program did not begin", bench->chip.part->name);
	return true;
}

static bool begin_full_page(struct bench *bench, uint64_t *allowed_ns)
{
	uint8_t page[512] = {0};

	if (!is_nor(bench))
		return false;
	bench_program(bench, 0, page, bench->chip.part->page_bytes);
	return began(bench, CHIP_WORK_PROGRAM, allowed_ns);
}

static bool begin_aai_word(struct bench *bench, uint64_t *allowed_ns)
{
	if (bench->chip.part->family != PART_SPI_AAI)
		return false;
	bench_op(bench, 0x06, 0);
	bench_send(bench, (const uint8_t[]){0xAD, 0, 0, 0, 1, 2}, 6, 0);
	return began(bench, CHIP_WORK_PROGRAM, allowed_ns);
}

static void follow_by_aai_word(struct bench *bench)
{
	bench_send(bench, (const uint8_t[]){0xAD, 3, 4}, 3, 0);
}

static bool begin_write_status(struct bench *bench, uint64_t *allowed_ns)
{
	const struct part_spi *spi = bench->chip.part->spi;

	if (!spi || bench->chip.part->dataflash || spi->write_status.max.ns == 0)
		return false;
	bench_write_register(bench, 0x01, (const uint8_t[]){0x00}, 1);
	return began(bench, CHIP_WORK_WRITE_STATUS, allowed_ns);
}

static bool begin_page_read(struct bench *bench, uint64_t *allowed_ns)
{
	if (!bench->chip.part->dataflash)
		return false;
	bench_op_at(bench, bench->which ? 0x60 : 0x53, 0, 0);
	return began(bench, CHIP_WORK_PAGE_READ, allowed_ns);
}

/* Waits that are the same at each corner. */

static bool end_after(struct bench *bench, struct figure figure, uint64_t *allowed_ns)
{
	*allowed_ns = bench->now_ns + figure.ns;
	return figure.ns > 0;
}

static bool begin_power_down(struct bench *bench, uint64_t *allowed_ns)
{
	const struct part_spi *spi = bench->chip.part->spi;

	if (!spi || spi->deep_power_down.ns == 0)
		return false;
	bench_op(bench, 0xB9, 0);
	return end_after(bench, spi->deep_power_down, allowed_ns);
}

static bool finish_power_down(struct bench *bench)
{
	uint64_t allowed_ns;

	if (!begin_power_down(bench, &allowed_ns))
		return false;
	bench->now_ns = allowed_ns;
	return true;
}

static bool begin_release(struct bench *bench, uint64_t *allowed_ns)
{
	if (!finish_power_down(bench))
		return false;
	bench_op(bench, 0xAB, 0);
	return end_after(bench, bench->chip.part->spi->release_power_down, allowed_ns);
}

static bool begin_release_with_id(struct bench *bench, uint64_t *allowed_ns)
{
	const struct part_spi *spi = bench->chip.part->spi;

	if (!is_nor(bench) || !spi->has_res || !finish_power_down(bench))
		return false;
	bench_op_at(bench, 0xAB, 0, 1);
	return end_after(bench, spi->release_power_down_with_id, allowed_ns);
}

static void send_reset(struct bench *bench)
{
	if (bench->chip.part->spi->features & SPI_HAS_RESET_F0) {
		bench_op(bench, 0xF0, 0);
		return;
	}
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
}

static bool begin_reset(struct bench *bench, uint64_t *allowed_ns)
{
	const size_t during = bench->which;
	uint64_t done_ns;
	struct figure waits[4];
	const struct part_spi *spi = bench->chip.part->spi;

	if (!is_nor(bench) || spi->soft_reset.ns == 0)
		return false;
	waits[0] = spi->soft_reset;
	waits[1] = spi->soft_reset_during_program;
	waits[2] = spi->soft_reset_during_erase;
	waits[3] = spi->soft_reset_during_write_status;
	bench->which = 0;
	if (during == 1)
		begin_program(bench, &done_ns);
	else if (during == 2)
		begin_erase(bench, &done_ns);
	else if (during == 3 && !begin_write_status(bench, &done_ns))
		return false;
	send_reset(bench);
	return end_after(bench, waits[during], allowed_ns);
}

static bool begin_suspend(struct bench *bench, uint64_t *allowed_ns)
{
	const struct part_spi *spi = bench->chip.part->spi;
	uint64_t done_ns;

	if (!is_nor(bench) || spi->suspend.opcode == 0)
		return false;
	begin_erase(bench, &done_ns);
	bench_op(bench, spi->suspend.opcode, 0);
	return end_after(bench, spi->suspend_latency, allowed_ns);
}

static bool begin_select(struct bench *bench, uint64_t *allowed_ns)
{
	if (is_parallel(bench))
		return false;
	chip_power_cycle(&bench->chip, bench->now_ns);
	return end_after(bench, bench->chip.part->spi->power_up_to_select, allowed_ns);
}

/* Returns false if the wait before a selection is as long: its row then covers this wait too. */
static bool begin_first_write(struct bench *bench, uint64_t *allowed_ns)
{
	const struct part_spi *spi = bench->chip.part->spi;
	uint64_t select_ns;

	if (is_parallel(bench) || spi->power_up_to_write.ns <= spi->power_up_to_select.ns)
		return false;
	select_ns = bench->now_ns + spi->power_up_to_select.ns;
	chip_power_cycle(&bench->chip, bench->now_ns);
	end_after(bench, spi->power_up_to_write, allowed_ns);
	bench->now_ns = select_ns;
	bench_op(bench, spi->busy_mask ? 0x05 : 0xD7, 1); /* ends the other wait */
	return true;
}

static bool begin_id_entry(struct bench *bench, uint64_t *allowed_ns)
{
	const struct part_parallel *parallel = bench->chip.part->parallel;

	if (!is_jedec(bench))
		return false;
	if (parallel->id_entry[0] == 0x60)
		send_jedec_setup(bench, parallel->unlock.addresses[0], 0x60);
	else
		send_jedec(bench, 0x90);
	return end_after(bench, parallel->id_entry_wait, allowed_ns);
}

static bool begin_id_exit(struct bench *bench, uint64_t *allowed_ns)
{
	if (!begin_id_entry(bench, allowed_ns))
		return false;
	bench->now_ns = *allowed_ns;
	send_jedec(bench, 0xF0);
	return end_after(bench, bench->chip.part->parallel->id_exit_wait, allowed_ns);
}

/* Windows: the command must come before their end. */

static bool begin_next_byte(struct bench *bench, uint64_t *allowed_ns)
{
	if (bench->chip.part->family != PART_JEDEC_PAGE)
		return false;
	send_jedec(bench, 0xA0);
	if (bench->which)
		bench_write(bench, 0, 0x5A);
	return end_after(bench, bench->chip.part->parallel->load.window, allowed_ns);
}

static void follow_by_byte(struct bench *bench)
{
	bench_write(bench, 1, 0x5A);
}

static bool begin_next_sector(struct bench *bench, uint64_t *allowed_ns)
{
	if (!is_jedec(bench) || bench->chip.part->parallel->erase_window.ns == 0)
		return false;
	send_jedec_setup(bench, 0, 0x30);
	return end_after(bench, bench->chip.part->parallel->erase_window, allowed_ns);
}

static void follow_by_sector(struct bench *bench)
{
	bench_write(bench, 0x10000, 0x30);
}

static const struct contract contracts[] = {
	{"erase", begin_erase, follow_by_write, CHIP_RULE_BUSY, PART_ERASES_MAX, false},
	{"program", begin_program, follow_by_write, CHIP_RULE_BUSY, 1, false},
	{"full page", begin_full_page, follow_by_read, CHIP_RULE_BUSY, 1, false},
	{"AAI word", begin_aai_word, follow_by_aai_word, CHIP_RULE_BUSY, 1, false},
	{"write status", begin_write_status, follow_by_read, CHIP_RULE_BUSY, 1, false},
	/* The page goes to a buffer, or is compared with it. */
	{"page read", begin_page_read, follow_by_read, CHIP_RULE_BUSY, 2, false},
	{"tDP", begin_power_down, follow_by_release, CHIP_RULE_DEEP_POWER_DOWN, 1, false},
	{"tRES1", begin_release, follow_by_read, CHIP_RULE_RELEASE, 1, false},
	{"tRES2", begin_release_with_id, follow_by_read, CHIP_RULE_RELEASE, 1, false},
	/* The part is idle, or in a program, an erase, a status write. */
	{"reset", begin_reset, follow_by_read, CHIP_RULE_RESET, 4, false},
	{"tSUS", begin_suspend, follow_by_read, CHIP_RULE_SUSPEND, 1, false},
	{"tVSL", begin_select, follow_by_read, CHIP_RULE_SELECT, 1, false},
	{"tPUW", begin_first_write, follow_by_write, CHIP_RULE_WRITE, 1, false},
	{"tIDA, entry", begin_id_entry, follow_by_read, CHIP_RULE_ID_ACCESS, 1, false},
	{"tIDA, exit", begin_id_exit, follow_by_read, CHIP_RULE_ID_ACCESS, 1, false},
	/* The byte is the first one, or the next. */
	{"byte", begin_next_byte, follow_by_byte, CHIP_RULE_WINDOW, 2, true},
	{"next sector", begin_next_sector, follow_by_sector, CHIP_RULE_WINDOW, 1, true},
};

/* Checks a command @late_ns after the end of the wait. Returns false if the part has none. */
static bool check_command(const struct part *part, const struct contract *contract, size_t which,
	const char *corner, int64_t late_ns)
{
	bool breaks = contract->is_window ? late_ns > 0 : late_ns < 0;
	struct bench bench;
	uint64_t allowed_ns = 0;
	bool has;

	bench_init(&bench, part->name, corner);
	unlock_all(&bench);
	bench.which = which;
	has = contract->begin(&bench, &allowed_ns);
	if (has) {
		bench.now_ns = allowed_ns + (uint64_t)late_ns;
		contract->follow(&bench);
		if (bench.facts.rule != (breaks ? contract->rule : CHIP_RULE_NONE))
			fail_msg("%s, %s %zu, %s, %lld ns: rule %s", part->name, contract->name,
				which, corner, (long long)late_ns,
				chip_rule_name(bench.facts.rule));
		if (breaks || !contract->is_window) {
			assert_true(bench.facts.owed);
			assert_int_equal(
				bench.facts.margin_ns, contract->is_window ? -late_ns : late_ns);
		}
	}
	bench_deinit(&bench);
	return has;
}

/* Tries the wait of every part at every corner. Returns the number of parts that have it. */
static size_t count_parts_that_keep(const struct contract *contract, size_t which)
{
	size_t count = 0;

	for (size_t i = 0; i < part_table_count * COUNT(corners); i++) {
		const struct part *part = &part_table[i / COUNT(corners)];
		const char *corner = corners[i % COUNT(corners)];

		if (!check_command(part, contract, which, corner, 0))
			continue;
		check_command(part, contract, which, corner, contract->is_window ? 1 : -1);
		count++;
	}
	return count / COUNT(corners);
}

TEST(every_wait_of_every_part_is_kept_to_the_nanosecond)
{
	for (size_t i = 0; i < COUNT(contracts); i++) {
		for (size_t which = 0; which < contracts[i].count; which++) {
			const size_t count = count_parts_that_keep(&contracts[i], which);

			print_message("%-12s %zu %zu\n", contracts[i].name, which, count);
			if (contracts[i].begin != begin_erase)
				assert_true(count > 0);
		}
	}
}
