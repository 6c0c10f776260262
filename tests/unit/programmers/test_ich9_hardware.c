/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus_fixture.h"

#include "programmers/front.h"

#define HSFS 0x04
#define HSFC 0x06
#define FADDR 0x08
#define FDATA 0x10
#define FRAP 0x50
#define FREG0 0x54
#define SSFS 0x90
#define FDOC 0xB0
#define FDOD 0xB4
#define LVSCC 0xC4
#define FPB 0xD0

#define DONE 0x01
#define ERROR 0x02
#define IN_PROGRESS 0x20
#define READ 0x0000
#define RESERVED 0x0002
#define WRITE 0x0004
#define ERASE 0x0006
#define GO 0x0001
#define DATA(count_) ((uint32_t)((count_) - 1) << 8)

#define BYTE_NS UINT64_C(400)
#define A_LONG_TIME_NS UINT64_C(10000000000)

static void store(struct fixture *fixture, uint64_t offset, unsigned int bytes, uint64_t value)
{
	const struct front_access access = {
		.now_ns = fixture->now_ns, .offset = offset, .size_bytes = bytes};

	front_find("ich9")->windows[0].write(&fixture->bus, &access, value);
}

static uint64_t load(struct fixture *fixture, uint64_t offset, unsigned int bytes)
{
	const struct front_access access = {
		.now_ns = fixture->now_ns, .offset = offset, .size_bytes = bytes};

	return front_find("ich9")->windows[0].read(&fixture->bus, &access);
}

static int w25q128jv(void **state)
{
	return put_on_bus(state, "W25Q128JV", RECORDS_MAX);
}

static int two_w25q64fv(void **state)
{
	return put_on_bus(state, "W25Q64FVx2", RECORDS_MAX);
}

/* The smallest blocks that it erases have 64 KiB. */
static int m25p80(void **state)
{
	return put_on_bus(state, "M25P80", RECORDS_MAX);
}

static void start(struct fixture *fixture, uint32_t address, uint32_t control)
{
	store(fixture, HSFS, 2, load(fixture, HSFS, 2));
	store(fixture, FADDR, 4, address);
	store(fixture, HSFC, 2, control | GO);
}

static uint8_t status(struct fixture *fixture)
{
	return (uint8_t)load(fixture, HSFS, 1) & (DONE | ERROR | IN_PROGRESS);
}

static void run(struct fixture *fixture, uint32_t address, uint32_t control)
{
	start(fixture, address, control);
	fixture->now_ns += A_LONG_TIME_NS;
	assert_int_equal(status(fixture), DONE);
}

static uint32_t descriptor(struct fixture *fixture, uint32_t section, uint32_t index)
{
	store(fixture, FDOC, 4, section << 12 | index << 2);
	return (uint32_t)load(fixture, FDOD, 4);
}

static void registers_say_a_descriptor_is_there_and_nothing_is_locked(void **state)
{
	struct fixture *fixture = *state;

	store(fixture, HSFS, 4, UINT32_MAX & ~(uint32_t)(GO << 16));
	assert_int_equal(load(fixture, HSFS, 2), 0x6008);
	assert_int_equal(load(fixture, FRAP, 4), 0xFFFF);
	assert_int_equal(load(fixture, FREG0, 4), 0);
	assert_int_equal(load(fixture, FREG0 + 4, 4), 0x0FFF0001);
	assert_int_equal(load(fixture, FREG0 + 8, 4), 0x1FFF);
	assert_int_equal(load(fixture, FPB, 4), 0);
}

static void descriptor_has_one_part_of_its_size(void **state)
{
	struct fixture *fixture = *state;
	const uint32_t map = descriptor(fixture, 0, 1);

	assert_int_equal(descriptor(fixture, 0, 0), 0x0FF0A55A);
	assert_int_equal(map >> 8 & 3, 0);
	assert_int_equal(map >> 24 & 7, 4);
	assert_int_equal(descriptor(fixture, 0, 3), 0);
	assert_int_equal(descriptor(fixture, 1, 0), 5);
	assert_int_equal(descriptor(fixture, 1, 1), 0);
	assert_int_equal(descriptor(fixture, 2, 1), 0x0FFF0001);
	assert_int_equal(descriptor(fixture, 3, 0), 0xFFFF0000);
	assert_int_equal(descriptor(fixture, 4, 0), 0);
}

static void part_without_small_blocks_is_erased_by_its_smallest(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, HSFS, 2), 0x6018);
	assert_int_equal(load(fixture, LVSCC, 4), 0xD807);
	assert_int_equal(descriptor(fixture, 1, 0), 1);
	run(fixture, 0x20000, ERASE);
	assert_int_equal(record(fixture, 1)->chip.opcode, 0xD8);
}

static void read_takes_address_and_count(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t content[] = {1, 2, 3, 4};

	array_load(&fixture->bus.chip.array, 0x12340, content, sizeof(content));
	start(fixture, 0x12340, READ | DATA(64));
	fixture->now_ns += 68 * BYTE_NS - 1;
	assert_int_equal(status(fixture), IN_PROGRESS);
	fixture->now_ns++;
	assert_int_equal(status(fixture), DONE);
	assert_int_equal(load(fixture, FDATA, 4), 0x04030201);
	assert_int_equal(load(fixture, FDATA + 60, 4), 0xFFFFFFFF);
}

static void write_is_enable_program_and_status_until_the_part_is_ready(void **state)
{
	struct fixture *fixture = *state;

	store(fixture, FDATA, 4, 0x44332211);
	start(fixture, 0x100, WRITE | DATA(4));
	fixture->now_ns = fixture->bus.chip.busy_until_ns + 2 * BYTE_NS - 1;
	assert_int_equal(status(fixture), IN_PROGRESS);
	assert_int_equal(load(fixture, SSFS, 1), IN_PROGRESS >> 5);
	fixture->now_ns++;
	assert_int_equal(status(fixture), DONE);
	assert_int_equal(load(fixture, SSFS, 1), 0);
	assert_int_equal(record_count(fixture), 3);
	assert_int_equal(record(fixture, 0)->chip.opcode, 0x06);
	assert_int_equal(record(fixture, 1)->chip.opcode, 0x02);
	assert_int_equal(record(fixture, 1)->write_len, 8);
	assert_int_equal(record(fixture, 2)->chip.opcode, 0x05);
	run(fixture, 0x100, READ | DATA(4));
	assert_int_equal(load(fixture, FDATA, 4), 0x44332211);
}

static void erase_takes_the_block_of_the_address(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, 0x5000, ERASE);
	assert_int_equal(record_count(fixture), 3);
	assert_int_equal(record(fixture, 1)->chip.opcode, 0x20);
	assert_int_equal(record(fixture, 1)->chip.address, 0x5000);
	assert_int_equal(record(fixture, 1)->chip.work, CHIP_WORK_ERASE);
}

static void descriptor_of_two_parts_has_both(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(descriptor(fixture, 0, 1) >> 8 & 3, 1);
	assert_int_equal(descriptor(fixture, 1, 0), 4 << 3 | 4);
	assert_int_equal(load(fixture, FREG0 + 4, 4), 0x0FFF0001);
}

static void of_two_parts_the_one_with_the_address_is_awaited(void **state)
{
	struct fixture *fixture = *state;

	for (uint32_t address = 0; address < 0x1000000; address += 0x800000) {
		start(fixture, address, ERASE);
		fixture->now_ns = fixture->bus.chip.busy_until_ns + 2 * BYTE_NS - 1;
		assert_int_equal(status(fixture), IN_PROGRESS);
		fixture->now_ns++;
		assert_int_equal(status(fixture), DONE);
	}
}

static void part_that_never_gets_ready_holds_the_controller(void **state)
{
	struct fixture *fixture = *state;

	chip_stick_from(&fixture->bus.chip, 1);
	start(fixture, 0, ERASE);
	for (int look = 0; look < 3; look++) {
		fixture->now_ns += 100 * A_LONG_TIME_NS;
		assert_int_equal(status(fixture), IN_PROGRESS);
	}
}

static void writes_within_a_cycle_are_an_error_and_change_nothing(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, 0x1000, ERASE);
	store(fixture, FADDR, 4, 0x5000);
	store(fixture, HSFC, 2, READ | GO);
	assert_int_equal(status(fixture), IN_PROGRESS | ERROR);
	fixture->now_ns += A_LONG_TIME_NS;
	assert_int_equal(status(fixture), DONE | ERROR);
	assert_int_equal(load(fixture, FADDR, 4), 0x1000);
	assert_int_equal(record_count(fixture), 3);
}

static void reserved_operation_is_an_error_and_nothing_is_sent(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, 0, RESERVED);
	assert_int_equal(status(fixture), ERROR);
	assert_int_equal(record_count(fixture), 0);
}

static void ones_clear_the_status(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, 0, READ);
	store(fixture, HSFS, 1, DONE);
	assert_int_equal(status(fixture), 0);
}

static void software_may_take_a_cycle_after_hardware_had_one(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, 0, READ);
	store(fixture, 0x98, 1, 0x9F);
	store(fixture, SSFS, 4, 1U << 9 | 1U << 22 | 2U << 16);
	fixture->now_ns += A_LONG_TIME_NS;
	assert_int_equal(load(fixture, SSFS, 1), 0x04);
	assert_int_equal(load(fixture, FDATA, 4) & 0xFFFFFF, 0x1840EF);
}

#define ON(part_, test_) cmocka_unit_test_setup_teardown(test_, part_, take_off_bus)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(w25q128jv, registers_say_a_descriptor_is_there_and_nothing_is_locked),
		ON(w25q128jv, descriptor_has_one_part_of_its_size),
		ON(m25p80, part_without_small_blocks_is_erased_by_its_smallest),
		ON(w25q128jv, read_takes_address_and_count),
		ON(w25q128jv, write_is_enable_program_and_status_until_the_part_is_ready),
		ON(w25q128jv, erase_takes_the_block_of_the_address),
		ON(two_w25q64fv, descriptor_of_two_parts_has_both),
		ON(two_w25q64fv, of_two_parts_the_one_with_the_address_is_awaited),
		ON(w25q128jv, part_that_never_gets_ready_holds_the_controller),
		ON(w25q128jv, writes_within_a_cycle_are_an_error_and_change_nothing),
		ON(w25q128jv, reserved_operation_is_an_error_and_nothing_is_sent),
		ON(w25q128jv, ones_clear_the_status),
		ON(w25q128jv, software_may_take_a_cycle_after_hardware_had_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
