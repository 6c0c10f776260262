/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays dialogues (dialogue.h) with parts: golden/SUBJECT.txt.
 *
 *     part NAME CORNER        a new part, erased, long after power-up
 *     AT op BYTE... rN tNS    SPI: bytes out, N bytes in; it takes NS, 0 if none is given
 *     AT we BYTE... rN        the same after a write enable (06h)
 *     AT x BYTE...            SPI: each byte out, and the one that comes in with it
 *     AT fall|rise|short      SPI: chip select falls, rises, rises within a byte; `x` also makes it
 *                             fall
 *     AT peek                 SPI: the byte that the part would drive next
 *     AT w ADDRESS BYTE...    cycles: a write each, from ADDRESS up
 *     AT cmd CODE [ADDRESS BYTE...]  cycles: AAh, 55h, CODE at command addresses, then writes
 *     AT six CODE ADDRESS     cycles: the six of an erase
 *     AT r ADDRESS N          cycles: reads
 *     AT power|off|on         power goes and comes back, goes, comes back
 *     AT start STATE          the part begins in that state
 *     AT cut TEXT, stick N    as --power-cut TEXT and --fault stuck-wip@N of the emulator
 *     AT load ADDRESS BYTE... puts bytes into the array
 *     AT see ADDRESS N        bytes of the array
 *     AT tally ADDRESS N      how many of them are 00h, FFh or other
 *     AT blank                the address of the first byte FFh, and how many follow in a row; then
 *                             all bytes of the array become 00h
 *
 * AT is +NS or -NS from the time of the line before, or `end`, `end-NS`, `end+NS`, where `end` is
 * the end of the last work. NS, N and FACTOR of BYTE*FACTOR are decimal, all other numbers
 * hexadecimal.
 */
#include <stdlib.h>
#include <string.h>

#include "dialogue.h"
#include "map_zeros.h"
#include "model/start_state.h"

#define BUS_END UINT32_C(0x1000000) /* the end of the array of LPC and FWH parts */

struct bench {
	struct dialogue dialogue;
	struct chip chip;
	void *memory;
	uint64_t now_ns;
	bool selected;
};

/* Appends the facts of a step that is not the last of its line, if it broke a rule. */
static void put_broken(struct bench *bench, const struct chip_facts *facts)
{
	if (facts->rule == CHIP_RULE_NONE)
		return;
	put_facts(&bench->dialogue, facts, bench->now_ns);
	put(&bench->dialogue, ";");
}

static void transact(
	struct bench *bench, const struct transfer *from, uint8_t *reply, struct chip_facts *facts)
{
	struct chip_transfer transfer = {
		.start_ns = bench->now_ns,
		.end_ns = bench->now_ns + from->wire_ns,
		.command = from->bytes,
		.command_len = from->len,
		.reply = reply,
		.reply_len = from->reply_len,
	};

	chip_transfer(&bench->chip, &transfer, facts);
	bench->now_ns = transfer.end_ns;
}

static bool run_op(struct bench *bench)
{
	struct transfer transfer;
	uint8_t reply[DIALOGUE_BYTES_MAX];
	struct chip_facts facts;

	if (!take_transfer(&transfer) || transfer.len == 0 || transfer.reply_len > sizeof(reply))
		return false;
	transact(bench, &transfer, reply, &facts);
	put_bytes(&bench->dialogue, reply, transfer.reply_len);
	put_facts(&bench->dialogue, &facts, bench->now_ns);
	put(&bench->dialogue, "sr=%02x", facts.status);
	return true;
}

static bool run_write_enabled_op(struct bench *bench)
{
	static const struct transfer enable = {.bytes = {0x06}, .len = 1};
	struct chip_facts facts;

	transact(bench, &enable, NULL, &facts);
	put_broken(bench, &facts);
	return run_op(bench);
}

static bool run_fall(struct bench *bench)
{
	chip_select(&bench->chip, bench->now_ns);
	bench->selected = true;
	return true;
}

static bool run_exchange(struct bench *bench)
{
	struct transfer transfer;

	if (!take_transfer(&transfer))
		return false;
	if (!bench->selected)
		run_fall(bench);
	for (size_t i = 0; i < transfer.len; i++)
		transfer.bytes[i] = chip_exchange(&bench->chip, bench->now_ns, transfer.bytes[i]);
	put_bytes(&bench->dialogue, transfer.bytes, transfer.len);
	return true;
}

static bool run_peek(struct bench *bench)
{
	put(&bench->dialogue, "%02x", chip_preview(&bench->chip, bench->now_ns));
	return true;
}

static bool run_rise(struct bench *bench)
{
	struct chip_facts facts;

	bench->selected = false;
	if (!chip_deselect(&bench->chip, bench->now_ns, &facts)) {
		put(&bench->dialogue, "no command");
		return true;
	}
	put_facts(&bench->dialogue, &facts, bench->now_ns);
	put(&bench->dialogue, "sr=%02x", facts.status);
	return true;
}

static bool run_cut_short(struct bench *bench)
{
	chip_cut_short(&bench->chip);
	return run_rise(bench);
}

static void write_cycle(
	struct bench *bench, uint32_t address, uint8_t value, struct chip_facts *facts)
{
	uint64_t end_ns = bench->now_ns + bench->chip.part->parallel->cycle_ns;

	chip_write_cycle(&bench->chip, bench->now_ns, end_ns, address, value, facts);
	bench->now_ns = end_ns;
}

/* Writes AAh and 55h, which come before a command. Returns the address of the part's first byte. */
static uint32_t unlock(struct bench *bench)
{
	const struct part *part = bench->chip.part;
	bool is_parallel = part->parallel->bus == PARALLEL_BUS_PARALLEL;
	uint32_t base = is_parallel ? 0 : BUS_END - part->size_bytes;
	struct chip_facts facts;

	write_cycle(bench, base + 0x5555, 0xAA, &facts);
	put_broken(bench, &facts);
	write_cycle(bench, base + 0x2AAA, 0x55, &facts);
	put_broken(bench, &facts);
	return base;
}

static void write_command(struct bench *bench, uint8_t code, struct chip_facts *facts)
{
	uint32_t base = unlock(bench);

	write_cycle(bench, base + 0x5555, code, facts);
}

/* Writes the bytes in the rest of the line. Returns false if there are none, or other words. */
static bool write_rest(struct bench *bench, struct chip_facts *facts)
{
	struct transfer transfer;
	uint32_t address;

	if (!take_address(&address) || !take_transfer(&transfer))
		return false;
	for (size_t i = 0; i < transfer.len; i++) {
		if (i > 0)
			put_broken(bench, facts);
		write_cycle(bench, address + (uint32_t)i, transfer.bytes[i], facts);
	}
	return transfer.len > 0;
}

static bool run_write(struct bench *bench)
{
	struct chip_facts facts;

	if (!write_rest(bench, &facts))
		return false;
	put_facts(&bench->dialogue, &facts, bench->now_ns);
	return true;
}

static bool run_command(struct bench *bench)
{
	struct chip_facts facts;
	uint32_t code;

	if (!take_address(&code))
		return false;
	write_command(bench, (uint8_t)code, &facts);
	(void)write_rest(bench, &facts);
	put_facts(&bench->dialogue, &facts, bench->now_ns);
	return true;
}

static bool run_six(struct bench *bench)
{
	struct chip_facts facts;
	uint32_t address;
	uint32_t code;

	if (!take_address(&code) || !take_address(&address))
		return false;
	write_command(bench, 0x80, &facts);
	put_broken(bench, &facts);
	unlock(bench);
	write_cycle(bench, address, (uint8_t)code, &facts);
	put_facts(&bench->dialogue, &facts, bench->now_ns);
	return true;
}

static bool run_read(struct bench *bench)
{
	uint8_t reply[DIALOGUE_BYTES_MAX];
	struct chip_facts facts;
	uint32_t address;
	size_t len;

	if (!take_range(&address, &len))
		return false;
	chip_read_cycles(&bench->chip, bench->now_ns, address, reply, len, &facts);
	put_bytes(&bench->dialogue, reply, len);
	put_facts(&bench->dialogue, &facts, bench->now_ns);
	bench->now_ns += len * bench->chip.part->parallel->cycle_ns;
	return true;
}

static bool run_power_cycle(struct bench *bench)
{
	chip_power_cycle(&bench->chip, bench->now_ns);
	return true;
}

static bool run_power_off(struct bench *bench)
{
	chip_power_off(&bench->chip, bench->now_ns);
	return true;
}

static bool run_power_on(struct bench *bench)
{
	chip_power_on(&bench->chip, bench->now_ns);
	return true;
}

static bool run_start(struct bench *bench)
{
	char *name = next_word();
	enum start_state state;
	struct chip_facts facts = {0};

	if (!name || start_state_parse(name, &state) < 0)
		return false;
	chip_start_in(&bench->chip, state, bench->now_ns, &facts);
	put_facts(&bench->dialogue, &facts, bench->now_ns);
	return true;
}

static bool run_cut(struct bench *bench)
{
	char *text = next_word();
	struct power_cut cut;

	if (!text || power_cut_parse(text, &cut) < 0)
		return false;
	chip_plan_power_cut(&bench->chip, &cut);
	return true;
}

static bool run_stick(struct bench *bench)
{
	uint64_t nth;

	if (!take_number(&nth))
		return false;
	chip_stick_from(&bench->chip, nth);
	return true;
}

static bool run_load(struct bench *bench)
{
	return load_array(&bench->chip.array);
}

static bool take_content(struct bench *bench, uint8_t bytes[DIALOGUE_BYTES_MAX], size_t *len)
{
	uint32_t address;

	if (!take_range(&address, len))
		return false;
	chip_settle(&bench->chip, bench->now_ns);
	array_read(&bench->chip.array, address, bytes, *len);
	return true;
}

static bool run_see(struct bench *bench)
{
	uint8_t bytes[DIALOGUE_BYTES_MAX];
	size_t len;

	if (!take_content(bench, bytes, &len))
		return false;
	put_bytes(&bench->dialogue, bytes, len);
	return true;
}

static bool run_tally(struct bench *bench)
{
	uint8_t bytes[DIALOGUE_BYTES_MAX];
	size_t zeros = 0;
	size_t ones = 0;
	size_t len;

	if (!take_content(bench, bytes, &len))
		return false;
	for (size_t i = 0; i < len; i++) {
		zeros += bytes[i] == 0x00;
		ones += bytes[i] == 0xFF;
	}
	put(&bench->dialogue, "%zu of 00, %zu of ff, %zu others", zeros, ones, len - zeros - ones);
	return true;
}

/* Returns how many bytes in a row, from @from on, are FFh (@blank) or are not. */
static size_t run_of(const uint8_t *bytes, size_t from, size_t size_bytes, bool blank)
{
	size_t at = from;

	while (at < size_bytes && (bytes[at] == 0xFF) == blank)
		at++;
	return at - from;
}

static bool run_blank(struct bench *bench)
{
	const size_t size_bytes = bench->chip.part->size_bytes;
	uint8_t *bytes = map_zeros(size_bytes);
	size_t first, count;

	chip_settle(&bench->chip, bench->now_ns);
	array_read(&bench->chip.array, 0, bytes, size_bytes);
	first = run_of(bytes, 0, size_bytes, false);
	count = run_of(bytes, first, size_bytes, true);
	put(&bench->dialogue, "%zx %zu", first, count);
	if (run_of(bytes, first + count, size_bytes, false) < size_bytes - first - count)
		put(&bench->dialogue, "and others");
	memset(bytes, 0x00, size_bytes);
	array_load(&bench->chip.array, 0, bytes, size_bytes);
	munmap(bytes, size_bytes);
	return true;
}

static bool run_part(struct bench *bench)
{
	char *name = next_word();
	char *corner_text = next_word();
	const struct part *part = name ? part_find(name) : NULL;
	struct corner corner;

	if (!part || !corner_text || corner_parse(corner_text, &corner) < 0)
		return false;
	bench->memory = map_zeros(chip_memory_bytes(part)); /* kept until the program ends */
	bench->now_ns = UINT64_C(1000000000);
	bench->selected = false;
	chip_init(&bench->chip, part, &corner, bench->memory);
	return true;
}

static const struct {
	const char *name;
	bool (*run)(struct bench *bench);
} verbs[] = {
	{"op", run_op},
	{"we", run_write_enabled_op},
	{"x", run_exchange},
	{"fall", run_fall},
	{"rise", run_rise},
	{"short", run_cut_short},
	{"peek", run_peek},
	{"w", run_write},
	{"cmd", run_command},
	{"six", run_six},
	{"r", run_read},
	{"power", run_power_cycle},
	{"off", run_power_off},
	{"on", run_power_on},
	{"start", run_start},
	{"cut", run_cut},
	{"stick", run_stick},
	{"load", run_load},
	{"see", run_see},
	{"tally", run_tally},
	{"blank", run_blank},
};

static bool run_line(void *context, const char *first)
{
	struct bench *bench = context;
	char *verb;

	if (strcmp(first, "part") == 0)
		return run_part(bench);
	verb = next_word();
	if (!verb || !bench->memory || !take_time(first, bench->chip.busy_until_ns, &bench->now_ns))
		return false;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verb, verbs[i].name) == 0)
			return verbs[i].run(bench);
	}
	return false;
}

int main(int argc, char *argv[])
{
	struct bench bench = {.memory = NULL};

	return dialogue_main(argc, argv, &bench.dialogue, run_line, &bench);
}
