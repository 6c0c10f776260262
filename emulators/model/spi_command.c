/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi_command.h"

#include <string.h>

#define OP_WRITE_ENABLE 0x06 /* spi_run_write_enable() also runs 04h, write disable */

void spi_init(struct chip *chip)
{
	const struct part_spi *part = chip->part->spi;

	for (size_t i = 0; i < part->status_count; i++)
		chip->spi.status_stored[i] = part->status[i].delivered;
}

static void owe_power_up(struct chip *chip, uint64_t at_ns)
{
	const struct part_spi *part = chip->part->spi;

	chip_owe(chip, at_ns, part->power_up_to_select, CHIP_RULE_SELECT);
	chip->write_debt = (struct chip_debt){
		.ready_ns = at_ns + part->power_up_to_write.ns,
		.rule = CHIP_RULE_WRITE,
		.grade = part->power_up_to_write.grade,
		.open = true,
	};
}

void spi_power_up(struct chip *chip, uint64_t at_ns)
{
	struct spi_state fresh = {.write_enabled = false};

	memcpy(fresh.status_stored, chip->spi.status_stored, sizeof(fresh.status_stored));
	memcpy(fresh.status, chip->spi.status_stored, sizeof(fresh.status));
	chip->spi = fresh;
	spi_lock_all(chip, true);
	owe_power_up(chip, at_ns);
}

static bool has_command(const struct part *part, const struct spi_command *command)
{
	if (command->when & SPI_FEATURES & ~part->spi->features)
		return false;
	return !command->part_has || command->part_has(part, command->opcode);
}

static const struct spi_command *command_find(const struct chip *chip, uint8_t opcode)
{
	const struct spi_command *commands = chip->family->commands;

	for (size_t i = 0; i < chip->family->command_count; i++) {
		if (commands[i].opcode == opcode && has_command(chip->part, &commands[i]))
			return &commands[i];
	}
	return NULL;
}

static bool works_when(const struct spi_command *command, unsigned int when)
{
	return command && command->when & when;
}

static bool is_write(const struct spi_command *command)
{
	return works_when(
		command, SPI_NEEDS_WRITE_ENABLE | SPI_NEEDS_STATUS_ENABLE | SPI_BEGINS_WRITE);
}

/* Returns true if the part still answers polls: it is busy, or about to suspend. */
static bool is_polled(const struct chip *chip)
{
	return chip->debt.rule == CHIP_RULE_BUSY || chip->debt.rule == CHIP_RULE_SUSPEND;
}

/*
 * Returns true if a read can be checked only when its address is known: a die that is done obeys
 * reads while another one works, and the address shows which die is read.
 */
static bool waits_for_address(const struct chip *chip, const struct spi_command *command)
{
	return chip->part->spi->dies.count > 0 && chip->debt.rule == CHIP_RULE_BUSY && command &&
	       command->reply == spi_reply_array;
}

/* No source says if a die that is done obeys other commands, so a violation is only assumed. */
static enum chip_rule check_debt(struct chip *chip, uint64_t now_ns, struct chip_facts *facts)
{
	enum chip_rule rule = chip_check_debt(&chip->debt, now_ns, facts);

	if (rule == CHIP_RULE_BUSY && chip->spi.die_ready)
		facts->grade = GRADE_ASSUMED;
	return rule;
}

static enum chip_rule check_debts(struct chip *chip, const struct spi_command *command,
	uint64_t now_ns, struct chip_facts *facts)
{
	enum chip_rule rule = CHIP_RULE_NONE;

	if (waits_for_address(chip, command))
		return rule;
	if (!is_polled(chip) || !works_when(command, SPI_WHILE_BUSY))
		rule = check_debt(chip, now_ns, facts);
	if (rule == CHIP_RULE_NONE && is_write(command))
		rule = chip_check_debt(&chip->write_debt, now_ns, facts);
	return rule;
}

static size_t address_bytes(const struct chip *chip, const struct spi_command *command)
{
	if (command->address_bytes != SPI_ADDRESS_BY_MODE)
		return command->address_bytes;
	return chip->spi.four_byte_mode ? 4 : 3;
}

static bool lacks_address(const struct spi_wire *wire)
{
	const struct spi_command *command = wire->command;

	return wire->command_len < wire->head_len - command->dummy_bytes &&
	       !works_when(command, SPI_ANY_ADDRESS);
}

static size_t data_len(const struct spi_wire *wire)
{
	return wire->command_len > wire->head_len ? wire->command_len - wire->head_len : 0;
}

static enum chip_rule check_length(const struct spi_wire *wire)
{
	const struct spi_command *command = wire->command;

	if (lacks_address(wire) || data_len(wire) < command->data_len_min)
		return CHIP_RULE_LENGTH;
	return data_len(wire) > command->data_len_max ? CHIP_RULE_LENGTH : CHIP_RULE_NONE;
}

/* Checks that the part's modes allow the command. */
static enum chip_rule check_modes(const struct chip *chip, const struct spi_command *command)
{
	const struct spi_state *spi = &chip->spi;

	if (spi->powered_down && !works_when(command, SPI_WHILE_POWERED_DOWN))
		return CHIP_RULE_POWER_DOWN;
	if (spi->error_bits && !works_when(command, SPI_WHILE_ERROR))
		return CHIP_RULE_ERROR;
	if (spi->aai && !works_when(command, SPI_WHILE_AAI))
		return CHIP_RULE_AAI;
	if (spi->suspended.open && works_when(command, SPI_NOT_WHILE_SUSPENDED))
		return CHIP_RULE_SUSPENDED;
	return CHIP_RULE_NONE;
}

static bool is_enabled(const struct chip *chip, const struct spi_command *command)
{
	const struct spi_state *spi = &chip->spi;
	bool writes_status = works_when(command, SPI_NEEDS_STATUS_ENABLE);

	if (spi->write_enabled && !(writes_status && chip->part->spi->ewsr_only))
		return true;
	if (writes_status)
		return spi->status_enabled || spi->bank_access;
	return !works_when(command, SPI_NEEDS_WRITE_ENABLE);
}

static enum chip_rule check_command(const struct chip *chip, const struct spi_command *command)
{
	enum chip_rule rule = check_modes(chip, command);

	if (rule != CHIP_RULE_NONE || !command)
		return rule;
	return is_enabled(chip, command) ? CHIP_RULE_NONE : CHIP_RULE_WEL;
}

static void check_die(struct chip *chip)
{
	struct chip_facts *facts = &chip->wire.facts;
	uint32_t die = facts->address / (chip->part->size_bytes / chip->part->spi->dies.count);

	if (facts->rule == CHIP_RULE_NONE &&
		!spi_die_is_ready(chip, (uint8_t)die, chip->wire.start_ns))
		facts->rule = chip_check_debt(&chip->debt, chip->wire.start_ns, facts);
}

/* Decodes the address. A part decodes only as many address bits as it has. Missing bytes are 0. */
static void decode_address(struct chip *chip)
{
	struct spi_wire *wire = &chip->wire;
	size_t count = wire->head_len - 1 - wire->command->dummy_bytes;
	uint32_t address = 0;

	if (count == 0 || wire->has_address)
		return;
	if (count == 3 && wire->command->address_bytes == SPI_ADDRESS_BY_MODE)
		address = chip->spi.address_high;
	for (size_t i = 1; i <= count; i++)
		address = address << 8 | (i < wire->command_len ? wire->bytes[i] : 0);
	wire->has_address = true;
	wire->facts.has_address = wire->command_len > count;
	wire->facts.address = address % chip->part->size_bytes;
	if (waits_for_address(chip, wire->command))
		check_die(chip);
}

static void settle_status(struct chip *chip, uint64_t now_ns)
{
	if (spi_lost_wel(chip, now_ns))
		chip->spi.write_enabled = false;
	chip->spi.die_ready = spi_die_is_ready(chip, chip->spi.die, now_ns);
}

void spi_begin(struct chip *chip)
{
	struct spi_wire *wire = &chip->wire;
	const struct spi_command *command = command_find(chip, wire->facts.opcode);

	settle_status(chip, wire->start_ns);
	wire->command = command;
	wire->bank_access = chip->spi.bank_access;
	wire->status_enabled = chip->spi.status_enabled;
	wire->facts.name = command ? command->name : "UNKNOWN";
	if (command)
		wire->head_len = 1u + address_bytes(chip, command) + command->dummy_bytes;
	wire->facts.rule = check_debts(chip, command, wire->start_ns, &wire->facts);
	if (wire->facts.rule == CHIP_RULE_NONE)
		wire->facts.rule = check_command(chip, command);
}

/* Calls a function of the current command, unless a rule is broken. */
static void call(struct chip *chip, void (*function)(struct chip *, const struct spi_request *),
	uint64_t now_ns, uint8_t *reply, size_t reply_len)
{
	struct spi_wire *wire = &chip->wire;
	const struct chip_transfer transfer = {
		.start_ns = wire->start_ns,
		.end_ns = now_ns,
		.command = wire->bytes,
		.command_len = wire->command_len,
		.reply = reply,
		.reply_len = reply_len,
	};
	const struct spi_request request = {
		.transfer = &transfer,
		.facts = &wire->facts,
		.data = wire->bytes + wire->head_len,
		.data_len = data_len(wire),
		.clocked_len = wire->clocked_len - wire->head_len,
		.replied_len = wire->replied_len,
	};

	decode_address(chip);
	if (wire->facts.rule == CHIP_RULE_NONE)
		function(chip, &request);
}

/*
 * Returns how many of the next @len bytes that the client reads are address or dummy bytes for the
 * part, because the client has sent too few: the part only counts clocks.
 */
static size_t missing_len(const struct spi_wire *wire, size_t len)
{
	size_t missing =
		wire->clocked_len < wire->head_len ? wire->head_len - wire->clocked_len : 0;

	return missing < len ? missing : len;
}

void spi_reply(struct chip *chip, uint64_t now_ns, uint8_t *reply, size_t len)
{
	struct spi_wire *wire = &chip->wire;

	memset(reply, BUS_FLOATING, len);
	settle_status(chip, now_ns);
	if (len == 0 || !wire->command || !wire->command->reply)
		return;
	if (wire->facts.rule == CHIP_RULE_NONE)
		call(chip, wire->command->reply, now_ns, reply, len);
	wire->replied_len += len;
}

void spi_listen(struct chip *chip, uint64_t now_ns, uint8_t *reply, size_t len)
{
	struct spi_wire *wire = &chip->wire;
	size_t missing;

	if (wire->command && wire->facts.rule == CHIP_RULE_NONE && lacks_address(wire))
		wire->facts.rule = CHIP_RULE_LENGTH;
	missing = missing_len(wire, len);
	memset(reply, BUS_FLOATING, missing);
	wire->clocked_len += missing;
	spi_reply(chip, now_ns, reply + missing, len - missing);
	wire->clocked_len += len - missing;
}

bool spi_reply_may_change(const struct chip *chip)
{
	return works_when(chip->wire.command, SPI_WHILE_BUSY) && chip->wire.command->reply;
}

static void act(struct chip *chip, uint64_t now_ns)
{
	const struct spi_wire *wire = &chip->wire;

	if (wire->command->reply && wire->replied_len == 0)
		call(chip, wire->command->reply, now_ns, NULL, 0);
	if (wire->command->run && wire->facts.rule == CHIP_RULE_NONE)
		call(chip, wire->command->run, now_ns, NULL, 0);
}

void spi_end(struct chip *chip, uint64_t now_ns)
{
	struct spi_wire *wire = &chip->wire;

	if (wire->command)
		decode_address(chip);
	if (wire->command && wire->facts.rule == CHIP_RULE_NONE)
		wire->facts.rule = check_length(wire);
	if (wire->command && wire->facts.rule == CHIP_RULE_NONE)
		act(chip, now_ns);
	if (!works_when(wire->command, SPI_KEEPS_RESET_ENABLED))
		chip->spi.reset_enabled = false;
	if (wire->bank_access)
		chip->spi.bank_access = false;
	if (wire->status_enabled && chip->family->opens_status_once)
		chip->spi.status_enabled = false;
}

bool spi_refuses(const struct chip *chip, uint32_t address, uint32_t len, struct chip_facts *facts)
{
	const struct part *part = chip->part;

	bool is_protected = spi_has_locks_in_force(chip)
				    ? spi_locks_cover(chip, address, len)
				    : protection_covers(&part->spi->protection, part->size_bytes,
					      chip->spi.status, address, len);

	if (!is_protected)
		return false;
	facts->rule = CHIP_RULE_PROTECTED;
	return true;
}

void spi_reply_repeating(
	const struct spi_request *request, const uint8_t *pattern, size_t pattern_len, size_t skip)
{
	const struct chip_transfer *transfer = request->transfer;

	for (size_t i = 0; i < transfer->reply_len; i++)
		transfer->reply[i] = pattern[(request->replied_len + i + skip) % pattern_len];
}

void spi_reply_octet(const struct spi_request *request, uint8_t octet)
{
	spi_reply_repeating(request, &octet, 1, 0);
}

void spi_reply_family_status(struct chip *chip, const struct spi_request *request)
{
	spi_reply_octet(request, chip->family->status(chip));
}

void spi_reply_rdid(struct chip *chip, const struct spi_request *request)
{
	const struct part_spi *part = chip->part->spi;

	spi_reply_repeating(request, part->rdid, part->rdid_len, 0);
}

/* Bit 0 of the address chooses which of the two bytes comes first. */
void spi_reply_rems(struct chip *chip, const struct spi_request *request)
{
	const uint8_t *rems = chip->part->spi->rems;

	spi_reply_repeating(
		request, rems, sizeof(chip->part->spi->rems), request->facts->address & 1);
}

void spi_reply_array(struct chip *chip, const struct spi_request *request)
{
	const struct chip_transfer *transfer = request->transfer;
	uint32_t address = request->facts->address + (uint32_t)request->replied_len;

	array_read(&chip->array, address, transfer->reply, transfer->reply_len);
}

bool spi_is_uniform(const struct chip *chip)
{
	const struct part_flag *uniform = &chip->part->spi->uniform_flag;

	return chip->spi.status[uniform->index] & uniform->mask;
}

void spi_run_erase(struct chip *chip, const struct spi_request *request)
{
	const struct part_erase *erase = part_erase_find(chip->part, request->facts->opcode);
	struct part_block block;
	struct chip_pending work;

	if (!part_erase_block(erase, request->facts->address, &block)) {
		request->facts->rule = CHIP_RULE_REGION;
		return;
	}
	if (!spi_is_uniform(chip))
		part_leave_small_sectors(chip->part, &block);
	if (spi_refuses(chip, block.address, block.size_bytes, request->facts))
		return;
	work = (struct chip_pending){
		.work = CHIP_WORK_ERASE,
		.address = block.address,
		.size_bytes = block.size_bytes,
	};
	chip_start_work(chip, request->transfer->end_ns, &work, &erase->busy, request->facts);
}

void spi_run_write_enable(struct chip *chip, const struct spi_request *request)
{
	chip->spi.write_enabled = request->facts->opcode == OP_WRITE_ENABLE;
}

void spi_run_power_down(struct chip *chip, const struct spi_request *request)
{
	chip->spi.powered_down = true;
	chip_owe(chip, request->transfer->end_ns, chip->part->spi->deep_power_down,
		CHIP_RULE_DEEP_POWER_DOWN);
}

/* ABh wakes a sleeping part. With three dummy bytes behind it, it also reads the ID. */
#define RELEASE_DUMMY_BYTES 3

static bool reads_id(const struct chip *chip, const struct spi_request *request)
{
	return chip->part->spi->has_res && request->data_len >= RELEASE_DUMMY_BYTES;
}

void spi_reply_release(struct chip *chip, const struct spi_request *request)
{
	if (reads_id(chip, request))
		spi_reply_octet(request, chip->part->spi->res);
}

void spi_run_release(struct chip *chip, const struct spi_request *request)
{
	const struct part_spi *part = chip->part->spi;
	bool with_id = reads_id(chip, request) && request->replied_len > 0 &&
		       request->clocked_len > RELEASE_DUMMY_BYTES;

	if (!chip->spi.powered_down)
		return;
	chip->spi.powered_down = false;
	chip_owe(chip, request->transfer->end_ns,
		with_id ? part->release_power_down_with_id : part->release_power_down,
		CHIP_RULE_RELEASE);
}

bool spi_has_rdid(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->rdid_len > 0;
}

bool spi_has_rems(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->has_rems;
}
