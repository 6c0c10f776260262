/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi.h"

#include "spi_command.h"

static const struct spi_command *command_find(const struct part *part,
	const struct spi_command *commands, size_t command_count, uint8_t opcode)
{
	for (size_t i = 0; i < command_count; i++) {
		if (commands[i].opcode != opcode)
			continue;
		if (!commands[i].part_has || commands[i].part_has(part, opcode))
			return &commands[i];
	}
	return NULL;
}

static bool works_when(const struct spi_command *command, unsigned int when)
{
	return command && command->when & when;
}

static enum chip_rule check_debt(struct chip *chip, const struct spi_command *command,
	uint64_t now_ns, struct chip_facts *facts)
{
	if (chip->debt.rule == CHIP_RULE_BUSY && works_when(command, SPI_WHILE_BUSY))
		return CHIP_RULE_NONE;
	return chip_check_debt(chip, now_ns, facts);
}

static size_t head_len(const struct spi_command *command)
{
	return 1u + command->address_bytes + command->dummy_bytes;
}

static enum chip_rule check_length(const struct spi_command *command, size_t command_len)
{
	size_t head = head_len(command);

	if (command_len < head + command->data_len_min)
		return CHIP_RULE_LENGTH;
	return command_len - head > command->data_len_max ? CHIP_RULE_LENGTH : CHIP_RULE_NONE;
}

static enum chip_rule check_command(
	const struct chip *chip, const struct spi_command *command, size_t command_len)
{
	if (chip->spi.powered_down && !works_when(command, SPI_WHILE_POWERED_DOWN))
		return CHIP_RULE_POWER_DOWN;
	if (!command)
		return CHIP_RULE_NONE;
	if (command->when & SPI_NEEDS_WRITE_ENABLE && !chip->spi.write_enabled)
		return CHIP_RULE_WEL;
	return check_length(command, command_len);
}

/* The part decodes only as many address bits as it has. */
static void decode_address(const struct chip *chip, const struct spi_command *command,
	const struct chip_transfer *transfer, struct chip_facts *facts)
{
	uint32_t address = 0;

	if (command->address_bytes == 0 || transfer->command_len < 1u + command->address_bytes)
		return;
	for (size_t i = 1; i <= command->address_bytes; i++)
		address = address << 8 | transfer->command[i];
	facts->has_address = true;
	facts->address = address % chip->part->size_bytes;
}

static void run(struct chip *chip, const struct spi_command *command,
	const struct chip_transfer *transfer, struct chip_facts *facts)
{
	size_t head = head_len(command);
	struct spi_request request = {
		.transfer = transfer,
		.data = transfer->command + head,
		.data_len = transfer->command_len - head,
	};

	command->run(chip, &request, facts);
}

void spi_transfer(struct chip *chip, const struct spi_command *commands, size_t command_count,
	const struct chip_transfer *transfer, struct chip_facts *facts)
{
	const struct spi_command *command =
		command_find(chip->part, commands, command_count, facts->opcode);

	facts->name = command ? command->name : "UNKNOWN";
	if (command)
		decode_address(chip, command, transfer, facts);
	facts->rule = check_debt(chip, command, transfer->start_ns, facts);
	if (facts->rule == CHIP_RULE_NONE)
		facts->rule = check_command(chip, command, transfer->command_len);
	if (facts->rule == CHIP_RULE_NONE && command)
		run(chip, command, transfer, facts);
	if (!works_when(command, SPI_KEEPS_RESET_ENABLED))
		chip->spi.reset_enabled = false;
}

void spi_reply_repeating(
	const struct spi_request *request, const uint8_t *pattern, size_t pattern_len, size_t skip)
{
	const struct chip_transfer *transfer = request->transfer;

	for (size_t i = 0; i < transfer->reply_len; i++)
		transfer->reply[i] = pattern[(i + skip) % pattern_len];
}
