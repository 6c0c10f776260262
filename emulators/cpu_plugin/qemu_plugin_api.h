/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of QEMU's TCG plugin ABI that the rig's plugins use; distributions ship no header for
 * it. Names and layouts are QEMU's; the comments say what these plugins rely on.
 *
 * API version 4 (QEMU 9.2) has all of this; it is the first one that reads memory. Version 5 (QEMU
 * 10.1) does not change any of it. In version 6 qemu_plugin_read_register() returns bool; in
 * version 7 callbacks have other arguments.
 */
#ifndef EMULATORS_CPU_PLUGIN_QEMU_PLUGIN_API_H
#define EMULATORS_CPU_PLUGIN_QEMU_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_API_MIN 4
#define QEMU_PLUGIN_API_MAX 5
#define QEMU_PLUGIN_API_NEEDED "it needs a machine of QEMU 9.2 to 10.1 (plugin API 4 or 5)"

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;

typedef struct qemu_info_t {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation; /* if false, `system` is undefined */
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
} qemu_info_t;

/* Returns true if QEMU emulates a whole machine and has an API that these plugins know. */
static inline bool qemu_plugin_api_fits(const qemu_info_t *info)
{
	return info->system_emulation && info->version.cur >= QEMU_PLUGIN_API_MIN &&
	       info->version.cur <= QEMU_PLUGIN_API_MAX;
}

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;
struct qemu_plugin_scoreboard; /* one element a vCPU; grows while all vCPUs are stopped */

typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset; /* the offset of a uint64_t in an element */
} qemu_plugin_u64;

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
	QEMU_PLUGIN_CB_R_REGS, /* the callback reads registers */
};

enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

/* Compares unsigned numbers: the u64 on the left, the immediate on the right. */
enum qemu_plugin_cond { QEMU_PLUGIN_COND_GE = 7 };

typedef void (*qemu_plugin_udata_cb_t)(qemu_plugin_id_t id, void *userdata);
typedef void (*qemu_plugin_vcpu_simple_cb_t)(qemu_plugin_id_t id, unsigned int vcpu_index);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu_index, void *userdata);
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

/* QEMU looks for these symbols. It refuses a version that it does not support. */
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(
	qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

/* Called in the vCPU's thread. QEMU holds its big lock during idle and resume: do not sleep. */
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb);
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb);
void qemu_plugin_register_vcpu_resume_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb);

/* Called in the thread that calls exit(), which may be a vCPU's; not when QEMU is killed. */
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb, void *userdata);

/* @cb runs when a block is translated. Callbacks that it registers run with the block, in order. */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t bytes_max);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
	qemu_plugin_vcpu_udata_cb_t cb, enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb_t cb,
	enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
	struct qemu_plugin_tb *tb, enum qemu_plugin_op op, qemu_plugin_u64 entry, uint64_t imm);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb,
	qemu_plugin_vcpu_udata_cb_t cb, enum qemu_plugin_cb_flags flags, enum qemu_plugin_cond cond,
	qemu_plugin_u64 entry, uint64_t imm, void *userdata);

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_bytes);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu_index);

/* GLib's GArray and GByteArray begin like this; QEMU brings the library. */
struct qemu_plugin_array {
	void *data;
	unsigned int len;
};

struct qemu_plugin_array *g_byte_array_new(void);

typedef struct {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
} qemu_plugin_reg_descriptor;

/* Returns an array of descriptors for the vCPU of the calling thread. */
struct qemu_plugin_array *qemu_plugin_get_registers(void);

/* Appends the register to @buffer. Returns its size in bytes, or -1. */
int qemu_plugin_read_register(
	struct qemu_plugin_register *handle, struct qemu_plugin_array *buffer);
struct qemu_plugin_array *g_byte_array_set_size(
	struct qemu_plugin_array *array, unsigned int bytes);

/* Reads memory of the calling thread's vCPU. Returns false if a part is not mapped. */
bool qemu_plugin_read_memory_vaddr(
	uint64_t address, struct qemu_plugin_array *buffer, size_t bytes);

/*
 * QEMU exports this function, but not as a part of the plugin interface. With icount, call it only
 * at the start of a block or at its last instruction; elsewhere QEMU exits ("Bad icount read"). The
 * time includes the whole block.
 */
#define QEMU_CLOCK_VIRTUAL 1
int64_t qemu_clock_get_ns(int type);

#endif
