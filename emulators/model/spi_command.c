/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi_command.h"

#include <string.h>

#include "spi_locks.h"

#define OP_WRITE_ENABLE 0x06 /* the other one is 04h, write disable */

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

/* While it is busy, or about to suspend, a part can still be asked how far it is. */
static bool is_polled(const struct chip *chip)
{
	return chip->debt.rule == CHIP_RULE_BUSY || chip->debt.rule == CHIP_RULE_SUSPEND;
}

static enum chip_rule check_debts(struct chip *chip, const struct spi_command *command,
	uint64_t now_ns, struct chip_facts *facts)
{
	enum chip_rule rule = CHIP_RULE_NONE;

	if (!is_polled(chip) || !works_when(command, SPI_WHILE_BUSY))
		rule = chip_check_debt(&chip->debt, now_ns, facts);
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

static size_t head_len(const struct chip *chip, const struct spi_command *command)
{
	return 1u + address_bytes(chip, command) + command->dummy_bytes;
}

static enum chip_rule check_length(
	const struct chip *chip, const struct spi_command *command, size_t command_len)
{
	size_t head = head_len(chip, command);
	size_t data_len = command_len > head ? command_len - head : 0;

	if (command_len < head - command->dummy_bytes && !works_when(command, SPI_ANY_ADDRESS))
		return CHIP_RULE_LENGTH;
	if (data_len < command->data_len_min)
		return CHIP_RULE_LENGTH;
	return data_len > command->data_len_max ? CHIP_RULE_LENGTH : CHIP_RULE_NONE;
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

	if (spi->write_enabled)
		return true;
	if (works_when(command, SPI_NEEDS_STATUS_ENABLE))
		return spi->status_enabled || spi->bank_access;
	return !works_when(command, SPI_NEEDS_WRITE_ENABLE);
}

static enum chip_rule check_command(
	const struct chip *chip, const struct spi_command *command, size_t command_len)
{
	enum chip_rule rule = check_modes(chip, command);

	if (rule != CHIP_RULE_NONE || !command)
		return rule;
	if (!is_enabled(chip, command))
		return CHIP_RULE_WEL;
	return check_length(chip, command, command_len);
}

/* The part decodes only as many address bits as it has. What is not written of an address is 0. */
static void decode_address(const struct chip *chip, const struct spi_command *command,
	const struct chip_transfer *transfer, struct chip_facts *facts)
{
	size_t count = address_bytes(chip, command);
	uint32_t address = 0;

	if (count == 0)
		return;
	if (count == 3 && command->address_bytes == SPI_ADDRESS_BY_MODE)
		address = chip->spi.address_high;
	for (size_t i = 1; i <= count; i++)
		address = address << 8 | (i < transfer->command_len ? transfer->command[i] : 0);
	facts->has_address = transfer->command_len > count;
	facts->address = address % chip->part->size_bytes;
}

/*
 * Eight clocks are a byte of address or a dummy, whoever drives the bus meanwhile: those that a
 * client did not write are the first bytes that it reads.
 */
static struct chip_transfer without_head(const struct chip_transfer *transfer, size_t head)
{
	struct chip_transfer wire = *transfer;
	size_t missing = transfer->command_len < head ? head - transfer->command_len : 0;

	if (missing > transfer->reply_len)
		missing = transfer->reply_len;
	if (missing > 0) {
		wire.reply += missing;
		wire.reply_len -= missing;
	}
	return wire;
}

static void run(struct chip *chip, const struct spi_command *command,
	const struct chip_transfer *transfer, struct chip_facts *facts)
{
	size_t head = head_len(chip, command);
	struct chip_transfer wire = without_head(transfer, head);
	struct spi_request request = {
		.transfer = &wire,
		.facts = facts,
		.data = wire.command + head,
		.data_len = wire.command_len > head ? wire.command_len - head : 0,
	};

	command->run(chip, &request);
}

static void drop_wel(struct chip *chip, uint64_t now_ns)
{
	if (spi_lost_wel(chip, now_ns))
		chip->spi.write_enabled = false;
}

void spi_transfer(struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	const struct spi_command *command = command_find(chip, facts->opcode);
	bool bank_access = chip->spi.bank_access;

	drop_wel(chip, transfer->start_ns);
	facts->name = command ? command->name : "UNKNOWN";
	if (command)
		decode_address(chip, command, transfer, facts);
	facts->rule = check_debts(chip, command, transfer->start_ns, facts);
	if (facts->rule == CHIP_RULE_NONE)
		facts->rule = check_command(chip, command, transfer->command_len);
	if (facts->rule == CHIP_RULE_NONE && command)
		run(chip, command, transfer, facts);
	if (!works_when(command, SPI_KEEPS_RESET_ENABLED))
		chip->spi.reset_enabled = false;
	if (bank_access)
		chip->spi.bank_access = false;
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
		transfer->reply[i] = pattern[(i + skip) % pattern_len];
}

void spi_run_rdid(struct chip *chip, const struct spi_request *request)
{
	const struct part_spi *part = chip->part->spi;

	spi_reply_repeating(request, part->rdid, part->rdid_len, 0);
}

/* Bit 0 of the address chooses which of the two bytes comes first. */
void spi_run_rems(struct chip *chip, const struct spi_request *request)
{
	const uint8_t *rems = chip->part->spi->rems;

	spi_reply_repeating(
		request, rems, sizeof(chip->part->spi->rems), request->facts->address & 1);
}

void spi_run_read(struct chip *chip, const struct spi_request *request)
{
	const struct chip_transfer *transfer = request->transfer;

	array_read(&chip->array, request->facts->address, transfer->reply, transfer->reply_len);
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

/* ABh with its three dummy bytes reads the ID; it wakes a sleeping part either way. */
void spi_run_release(struct chip *chip, const struct spi_request *request)
{
	const struct part_spi *part = chip->part->spi;
	const struct chip_transfer *transfer = request->transfer;
	bool with_id = part->has_res && request->data_len >= 3 && transfer->reply_len > 0;

	if (with_id)
		spi_reply_repeating(request, &part->res, 1, 0);
	if (!chip->spi.powered_down)
		return;
	chip->spi.powered_down = false;
	chip_owe(chip, transfer->end_ns,
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

bool spi_has_erase(const struct part *part, uint8_t opcode)
{
	return part_erase_find(part, opcode) != NULL;
}
