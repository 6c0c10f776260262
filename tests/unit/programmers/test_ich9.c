/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus_fixture.h"

#include "programmers/front.h"

#define FADDR 0x08
#define FDATA 0x10
#define SSFS 0x90
#define PREOP 0x94
#define OPTYPE 0x96
#define OPMENU 0x98

#define IN_PROGRESS 0x01
#define DONE 0x04
#define ERROR 0x08
#define GO (1U << 9)
#define ATOMIC (1U << 10)
#define SECOND_PREFIX (1U << 11)
#define COMMAND(index_) ((uint32_t)(index_) << 12)
#define DATA(count_) (1U << 22 | (uint32_t)((count_) - 1) << 16)
#define CLOCK_33_MHZ (1U << 24)

#define BYTE_NS UINT64_C(400)
#define FAST_BYTE_NS UINT64_C(243)
#define A_CYCLE_NS 1000000
#define A_LONG_TIME_NS UINT64_C(1000000000)

/* A menu: read id, read, program, erase, read status, write disable. */
enum { ID, READ, PROGRAM, ERASE, STATUS, DISABLE };
#define MENU_LOW 0x2002039F
#define MENU_HIGH 0x00000405
#define TYPES 0x04F8 /* two bits each: no address, read, write, write, no address, no data */

static const struct front_window *window(size_t index)
{
	return &front_find("ich9")->windows[index];
}

static void store(struct fixture *fixture, uint64_t offset, unsigned int bytes, uint64_t value)
{
	const struct front_access access = {
		.now_ns = fixture->now_ns, .offset = offset, .size_bytes = bytes};

	window(0)->write(&fixture->bus, &access, value);
}

static uint64_t load(struct fixture *fixture, uint64_t offset, unsigned int bytes)
{
	const struct front_access access = {
		.now_ns = fixture->now_ns, .offset = offset, .size_bytes = bytes};

	return window(0)->read(&fixture->bus, &access);
}

static int put_with_menu(void **state, const char *part)
{
	int error = put_on_bus(state, part, RECORDS_MAX);
	struct fixture *fixture = *state;

	store(fixture, PREOP, 2, 0x5006);
	store(fixture, OPTYPE, 2, TYPES);
	store(fixture, OPMENU, 4, MENU_LOW);
	store(fixture, OPMENU + 4, 4, MENU_HIGH);
	return error;
}

static int gd25q16c(void **state)
{
	return put_with_menu(state, "GD25Q16C");
}

static int two_w25q64fv(void **state)
{
	return put_with_menu(state, "W25Q64FVx2");
}

static void start(struct fixture *fixture, uint32_t words)
{
	store(fixture, SSFS, 4, words | GO | DONE | ERROR);
}

static uint8_t status(struct fixture *fixture)
{
	return (uint8_t)load(fixture, SSFS, 1);
}

/* Runs a command after which the part is not busy. */
static void run(struct fixture *fixture, uint32_t words)
{
	start(fixture, words);
	fixture->now_ns += A_CYCLE_NS;
	assert_int_equal(status(fixture), DONE);
}

static void id_comes_as_data(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, COMMAND(ID) | DATA(3));
	assert_int_equal(load(fixture, FDATA, 4) & 0xFFFFFF, 0x1540C8);
}

static void cycle_lasts_as_long_as_its_bytes_on_the_wire(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, COMMAND(ID) | DATA(3));
	fixture->now_ns += 4 * BYTE_NS - 1;
	assert_int_equal(status(fixture), IN_PROGRESS);
	fixture->now_ns++;
	assert_int_equal(status(fixture), DONE);
}

static void faster_clock_is_shorter(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, COMMAND(ID) | DATA(3) | CLOCK_33_MHZ);
	fixture->now_ns += 4 * FAST_BYTE_NS;
	assert_int_equal(status(fixture), DONE);
}

static void read_takes_the_address(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t content[] = {1, 2, 3, 4};

	array_load(&fixture->bus.chip.array, 0x12340, content, sizeof(content));
	store(fixture, FADDR, 4, 0x12340);
	run(fixture, COMMAND(READ) | DATA(64));
	assert_int_equal(load(fixture, FDATA, 4), 0x04030201);
	assert_int_equal(load(fixture, FDATA + 60, 4), 0xFFFFFFFF);
}

static void atomic_program_goes_on_until_the_part_is_ready(void **state)
{
	struct fixture *fixture = *state;

	store(fixture, FADDR, 4, 0x100);
	store(fixture, FDATA, 4, 0x44332211);
	start(fixture, COMMAND(PROGRAM) | DATA(4) | ATOMIC);
	fixture->now_ns = fixture->bus.chip.busy_until_ns + 2 * BYTE_NS - 1;
	assert_int_equal(status(fixture), IN_PROGRESS);
	fixture->now_ns++;
	assert_int_equal(status(fixture), DONE);
	run(fixture, COMMAND(READ) | DATA(4));
	assert_int_equal(load(fixture, FDATA, 4), 0x44332211);
}

/* A poll that does not name the part's address asks another one, which is ready. */
static void status_is_that_of_the_part_with_the_address(void **state)
{
	struct fixture *fixture = *state;

	store(fixture, OPMENU + DISABLE, 1, 0x06);
	run(fixture, COMMAND(DISABLE));
	store(fixture, FADDR, 4, 0x900000);
	run(fixture, COMMAND(ERASE));
	run(fixture, COMMAND(STATUS) | DATA(1));
	assert_int_equal(load(fixture, FDATA, 1) & 1, 1);
	store(fixture, FADDR, 4, 0);
	run(fixture, COMMAND(STATUS) | DATA(1));
	assert_int_equal(load(fixture, FDATA, 1) & 1, 0);
}

static void atomic_cycle_is_prefix_command_and_status(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, COMMAND(ERASE) | ATOMIC);
	fixture->now_ns += A_LONG_TIME_NS;
	assert_int_equal(status(fixture), DONE);
	assert_int_equal(record_count(fixture), 3);
	assert_int_equal(record(fixture, 0)->chip.opcode, 0x06);
	assert_int_equal(record(fixture, 1)->chip.opcode, 0x20);
	assert_int_equal(record(fixture, 1)->chip.work, CHIP_WORK_ERASE);
	assert_int_equal(record(fixture, 2)->chip.opcode, 0x05);
	assert_int_equal(record(fixture, 2)->read_ns, record(fixture, 1)->chip.busy_until_ns);
}

static void second_prefix_is_sent_if_it_is_named(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, COMMAND(STATUS) | DATA(1) | ATOMIC | SECOND_PREFIX);
	assert_int_equal(record(fixture, 0)->chip.opcode, 0x50);
}

static void without_the_prefix_the_part_refuses_a_write(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, COMMAND(ERASE));
	assert_int_equal(record_count(fixture), 1);
	assert_int_equal(record(fixture, 0)->chip.rule, CHIP_RULE_WEL);
}

static void part_that_never_gets_ready_holds_the_controller(void **state)
{
	struct fixture *fixture = *state;

	chip_stick_from(&fixture->bus.chip, 1);
	start(fixture, COMMAND(ERASE) | ATOMIC);
	for (int look = 0; look < 3; look++) {
		fixture->now_ns += 100 * A_LONG_TIME_NS;
		assert_int_equal(status(fixture), IN_PROGRESS);
	}
	assert_int_equal(record_count(fixture), 2 + 3);
}

static void writes_within_a_cycle_are_an_error_and_change_nothing(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, COMMAND(ERASE) | ATOMIC);
	store(fixture, FADDR, 4, 0x5000);
	store(fixture, SSFS + 1, 2, (GO | COMMAND(ID)) >> 8);
	assert_int_equal(status(fixture), IN_PROGRESS | ERROR);
	assert_int_equal(load(fixture, FADDR, 4), 0);
	fixture->now_ns += A_LONG_TIME_NS;
	assert_int_equal(status(fixture), DONE | ERROR);
	assert_int_equal(record_count(fixture), 3);
}

static void ones_clear_the_status(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, COMMAND(DISABLE));
	store(fixture, SSFS, 1, DONE);
	assert_int_equal(status(fixture), 0);
}

static void clock_of_the_part_never_runs_backwards(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 4; i++) {
		start(fixture, COMMAND(PROGRAM) | DATA(1) | ATOMIC);
		fixture->now_ns += A_LONG_TIME_NS;
		status(fixture);
	}
	assert_true(bus_is_clean(&fixture->bus));
}

static void machine_booted_from_spi(void **state)
{
	const struct front_access whole = {.size_bytes = 4};
	const struct front_access low = {.size_bytes = 1};
	const struct front_access high = {.offset = 1, .size_bytes = 1};

	(void)state;
	window(1)->write(NULL, &whole, 0);
	assert_int_equal(window(1)->read(NULL, &whole), 0x400);
	assert_int_equal(window(1)->read(NULL, &low), 0);
	assert_int_equal(window(1)->read(NULL, &high), 0x04);
}

static void without_a_chip_registers_read_as_zeros(void **state)
{
	const struct front_access access = {.offset = SSFS, .size_bytes = 4};

	(void)state;
	window(0)->write(NULL, &access, GO);
	assert_int_equal(window(0)->read(NULL, &access), 0);
}

#define ON_GD25Q16C(test_) cmocka_unit_test_setup_teardown(test_, gd25q16c, take_off_bus)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_GD25Q16C(id_comes_as_data),
		ON_GD25Q16C(cycle_lasts_as_long_as_its_bytes_on_the_wire),
		ON_GD25Q16C(faster_clock_is_shorter),
		ON_GD25Q16C(read_takes_the_address),
		ON_GD25Q16C(atomic_program_goes_on_until_the_part_is_ready),
		ON_GD25Q16C(atomic_cycle_is_prefix_command_and_status),
		ON_GD25Q16C(second_prefix_is_sent_if_it_is_named),
		ON_GD25Q16C(without_the_prefix_the_part_refuses_a_write),
		ON_GD25Q16C(part_that_never_gets_ready_holds_the_controller),
		ON_GD25Q16C(writes_within_a_cycle_are_an_error_and_change_nothing),
		ON_GD25Q16C(ones_clear_the_status),
		ON_GD25Q16C(clock_of_the_part_never_runs_backwards),
		cmocka_unit_test_setup_teardown(
			status_is_that_of_the_part_with_the_address, two_w25q64fv, take_off_bus),
		cmocka_unit_test(machine_booted_from_spi),
		cmocka_unit_test(without_a_chip_registers_read_as_zeros),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
