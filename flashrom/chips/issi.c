/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ISSI IS25LP: datasheet of the IS25LP032/064/128 (Rev D). QE sits in the first status register,
 * which is read, changed and written as a whole; the function register (48h) shows a suspension.
 *
 * IS25WP256: the times of its SFDP.
 */
#include "lists.h"

/* clang-format off */
#define IS25LP(part, jedec, bytes, erase_ms_typ, erase_ms_max, way)				\
{												\
	SPI25_PART("ISSI", part, jedec, bytes), .program = {200, 1000},				\
	.spi25 = {.status_write = {MS(2), MS(15)}, .wake_us_max = 5, .protect_mask = 0x3c,	\
		.suspended = {0x48, 0x0c}, .resume_opcode = 0x7a,				\
		.reset = SPI25_RESET_66_99, .reset_us_max = 100,				\
		.addresses = (way)},								\
	.erase = {										\
		{OP_4K(way), KIB(4), {MS(70), MS(300)}},					\
		{OP_32K(way), KIB(32), {MS(150), MS(750)}},					\
		{OP_SECTOR(way), KIB(64), {MS(300), MS(1500)}},					\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define IS25WP_4(part, jedec, bytes, erase_ms_typ, erase_ms_max)				\
{												\
	SPI25_PART("ISSI", part, jedec, bytes), .program = {200, 1200},				\
	.spi25 = {.status_write = {MS(10), MS(50)}, .wake_us_max = 100, .protect_mask = 0x3c,	\
		.reset = SPI25_RESET_66_99, .reset_us_max = MS(15),				\
		.addresses = SPI25_ADDRESS_4_OPCODES},						\
	.erase = {										\
		{0x21, KIB(4), {MS(48), MS(384)}},						\
		{0x5c, KIB(32), {MS(160), MS(1280)}},						\
		{0xdc, KIB(64), {MS(304), MS(2432)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	IS25LP("IS25LP064", 0x9d6017, MIB(8), 22000, 60000, SPI25_ADDRESS_3),
	IS25LP("IS25LP128", 0x9d6018, MIB(16), 45000, 120000, SPI25_ADDRESS_3),
	IS25LP("IS25LP256", 0x9d6019, MIB(32), 90000, 270000, SPI25_ADDRESS_4_OPCODES),
	IS25WP_4("IS25WP256", 0x9d7019, MIB(32), 60000, 360000),
};
/* clang-format on */

const struct chip_list issi_chips = CHIP_LIST(chips);
