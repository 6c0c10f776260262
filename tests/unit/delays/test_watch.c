/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the watch with a QEMU whose blocks have one instruction, and whose memory is all zero. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../run_cases.h"
#include "delay_plugin/watch.h"

#define ENTRY UINT64_C(0x401120)
#define REQUEST                                                                                    \
	"function 401120 4f 0 20 0 401000 409000\n"                                                \
	"entry 0 401120 0 0000000000000000000000000000000000000000000000000000000000000000\n"
#define STARTED "{\"ev\":\"delays\",\"schema\":2}\n"
#define PAGE_BYTES 4096

struct qemu_plugin_insn {
	uint64_t address;
};

struct qemu_plugin_tb {
	struct qemu_plugin_insn insn;
};

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	(void)tb;
	return 1;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index)
{
	assert_int_equal(index, 0);
	return (struct qemu_plugin_insn *)&tb->insn;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn->address;
}

size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t bytes_max)
{
	(void)insn;
	(void)to;
	(void)bytes_max;
	return 0;
}

/* The watchpoints that the watch made. A real QEMU keeps them for ever. */
static void *watchpoints[2 * WATCH_LOADED_MAX];
static size_t watchpoint_count;

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb_t cb,
	enum qemu_plugin_cb_flags flags, void *userdata)
{
	(void)tb;
	(void)cb;
	(void)flags;
	watchpoints[watchpoint_count++] = userdata;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
	qemu_plugin_vcpu_udata_cb_t cb, enum qemu_plugin_cb_flags flags, void *userdata)
{
	(void)insn;
	(void)cb;
	(void)flags;
	watchpoints[watchpoint_count++] = userdata;
}

struct qemu_plugin_array *qemu_plugin_get_registers(void)
{
	fail_msg("no block runs, so no register is read");
	return NULL;
}

int qemu_plugin_read_register(struct qemu_plugin_register *handle, struct qemu_plugin_array *buffer)
{
	(void)handle;
	(void)buffer;
	return -1;
}

struct qemu_plugin_array *g_byte_array_new(void)
{
	static struct qemu_plugin_array array;

	return &array;
}

struct qemu_plugin_array *g_byte_array_set_size(struct qemu_plugin_array *array, unsigned int bytes)
{
	array->len = bytes;
	return array;
}

bool qemu_plugin_read_memory_vaddr(uint64_t address, struct qemu_plugin_array *buffer, size_t bytes)
{
	static char zeros[PAGE_BYTES];

	(void)address;
	*buffer = (struct qemu_plugin_array){zeros, (unsigned int)bytes};
	return true;
}

static int64_t now_ns(void)
{
	return 0;
}

struct fixture {
	struct watch watch;
	char request_path[32];
	char out_path[32];
};

static void set_up(struct fixture *fixture)
{
	const uint64_t cell = 1;
	int request;

	strcpy(fixture->request_path, "/tmp/request-XXXXXX");
	strcpy(fixture->out_path, "/tmp/record-XXXXXX");
	close(mkstemp(fixture->out_path));
	request = mkstemp(fixture->request_path);
	assert_int_equal(write(request, &cell, sizeof(cell)), sizeof(cell));
	assert_int_equal(write(request, REQUEST, sizeof(REQUEST)), sizeof(REQUEST));
	close(request);
	assert_int_equal(watch_init(&fixture->watch, machine_find("x86_64"), now_ns,
				 fixture->request_path, fixture->out_path),
		0);
}

static void tear_down(struct fixture *fixture)
{
	while (watchpoint_count > 0)
		free(watchpoints[--watchpoint_count]);
	unlink(fixture->request_path);
	unlink(fixture->out_path);
}

FIXTURE(fixture, set_up, tear_down);

/* Translates the function's first block as if its file were the @nth at another address. */
static void load(struct fixture *fixture, unsigned int nth)
{
	struct qemu_plugin_tb block = {{ENTRY + (uint64_t)nth * PAGE_BYTES}};

	watch_block(&fixture->watch, &block);
}

static const char *record_of(const struct fixture *fixture)
{
	return fixture->watch.mapped_file.window;
}

TEST_ON(fixture, function_that_there_is_no_room_for_is_lost)
{
	for (unsigned int nth = 0; nth < WATCH_LOADED_MAX; nth++)
		load(fixture, nth);
	load(fixture, 0); /* known, and translated again */
	assert_string_equal(record_of(fixture), STARTED);
	load(fixture, WATCH_LOADED_MAX);
	assert_string_equal(record_of(fixture), STARTED "{\"ev\":\"lost\",\"calls\":1}\n");
}
