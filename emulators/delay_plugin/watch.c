/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watch.h"
#include "shared/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INSN_BYTES_MAX 16
#define ENDED_MAX 16
#define TIME_MAX (UINT64_C(1) << 31) /* values from here on are taken for negative numbers */

/* An instrumented place. It lives as long as QEMU, which may keep the translated block. */
struct watchpoint {
	struct watch *watch;
	uint64_t cell;
	uint64_t insns; /* the instructions that are left in its block: moment.late_insns */
	unsigned int function;
	uint64_t address;
	uint64_t site; /* the address after a call instruction; otherwise 0 */
	bool is_site;  /* it is itself the site of a call */
};

/* Ends QEMU: registers, request, disk or memory failed, which the guest cannot cause. */
static void __attribute__((noreturn)) give_up(const char *what, const char *name)
{
	fprintf(stderr, "delay plugin: %s %s\n", what, name);
	_exit(EXIT_FAILURE);
}

/* Returns false if the file has no room for the line and another @spare bytes. */
static bool try_to_write(struct watch *watch, const struct json_line *line, size_t spare)
{
	int ret = mapped_file_write(&watch->mapped_file, line->bytes, line->len, spare);

	if (ret < 0 && ret != -EFBIG)
		give_up("cannot write", "the output file");
	return ret == 0;
}

/* A program that polls for minutes fills the file. The last line then reports lost calls. */
static void write_line(struct watch *watch, const struct json_line *line)
{
	struct json_line last;

	if (watch->is_full || try_to_write(watch, line, sizeof(last.bytes)))
		return;
	watch->is_full = true;
	try_to_write(watch, record_lost(&last, watch->calls.lost + 1), 0);
}

static void record_ended(struct watch *watch, const struct moment *moment, const uint64_t *numbers,
	size_t count, const char *by)
{
	uint64_t result = registers_value(&watch->registers, watch->registers.result);
	struct json_line line;

	for (size_t i = 0; i < count; i++)
		write_line(watch, record_leave(&line, moment, numbers[i], by, result));
}

static struct moment moment_of(const struct watch *watch, unsigned int cpu, uint64_t late_insns)
{
	return (struct moment){.t_ns = watch->now_ns(), .late_insns = late_insns, .cpu = cpu};
}

/* Locks the watch. Returns false, with nothing locked, if the watchpoint is of an earlier cell. */
static bool lock_for(const struct watchpoint *watchpoint)
{
	const char *missing;

	pthread_mutex_lock(&watchpoint->watch->lock);
	missing = registers_find(&watchpoint->watch->registers);
	if (missing)
		give_up("this QEMU has no register", missing);
	if (watchpoint->cell == watchpoint->watch->file.known)
		return true;
	pthread_mutex_unlock(&watchpoint->watch->lock);
	return false;
}

static void read_stack(
	struct watch *watch, const struct watchpoint *watchpoint, struct stack *stack)
{
	struct registers *registers = &watch->registers;
	const struct request_function *function = &watch->request.functions[watchpoint->function];

	stack->function = watchpoint->function;
	stack->base = watchpoint->address - function->address;
	stack->sp = registers_value(registers, registers->sp);
	stack->fp = registers_value(registers, registers->fp);
	stack->lr = registers->lr ? registers_value(registers, registers->lr) : 0;
	stack->lr &= ~watch->machine->mode_bit;
	stack->word_count = registers_words(registers, stack->sp, stack->words, STACK_WORDS_MAX);
}

static unsigned int number_stack(struct watch *watch, const struct stack *stack)
{
	const struct request_function *function = &watch->request.functions[stack->function];
	struct json_line line;
	bool is_new;
	unsigned int number = stacks_number(
		&watch->stacks, stack, function->text_begin, function->text_end, &is_new);

	if (is_new)
		write_line(watch, record_stack(&line, number, stack));
	return number;
}

static uint64_t argument_at(
	struct registers *registers, unsigned int argument, const struct stack *stack)
{
	size_t word = machine_argument_word(registers->machine, argument);

	if (argument < MACHINE_ARGUMENTS_MAX && registers->arguments[argument])
		return registers_value(registers, registers->arguments[argument]);
	return word < stack->word_count ? stack->words[word] : 0;
}

static uint64_t argument_of(struct registers *registers, const struct request_function *function,
	const struct stack *stack)
{
	unsigned int bits = function->argument_bits;
	uint64_t value = argument_at(registers, function->argument, stack);

	return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

/* Reads seconds and a part of a second. Returns false if they are not mapped, or negative. */
static bool read_time(struct registers *registers, const struct request_function *sleep,
	uint64_t address, uint64_t *ns)
{
	uint64_t seconds = 0, part = 0;

	if (!registers_memory(registers, address, &seconds, sleep->seconds_bytes) ||
		!registers_memory(
			registers, address + sleep->seconds_bytes, &part, sleep->part_bytes))
		return false;
	*ns = seconds * NS_PER_S + part * sleep->part_ns;
	return seconds < TIME_MAX && part < TIME_MAX;
}

static bool read_sleep(struct registers *registers, const struct request_function *sleep,
	const struct stack *stack, uint64_t *asked, struct asking *asking)
{
	for (unsigned int i = 0; i < RECORD_ARGUMENTS; i++)
		asking->arguments[i] = argument_at(registers, i, stack);
	if (!sleep->seconds_bytes)
		return true;
	return read_time(registers, sleep, argument_at(registers, sleep->argument, stack), asked);
}

/*
 * Returns the requested time of a call in the unit of @function, or in ns if the argument points to
 * a time. @stack is that of the called function. Returns 0 if @asking says that the time is
 * unknown.
 */
static uint64_t read_asked(struct registers *registers, const struct request_function *function,
	const struct stack *stack, struct asking *asking)
{
	uint64_t asked = argument_of(registers, function, stack);

	*asking = (struct asking){.is_known = true};
	if (function->is_sleep)
		asking->is_known = read_sleep(registers, function, stack, &asked, asking);
	return asking->is_known ? asked : 0;
}

static void begin_call(struct watch *watch, const struct moment *moment, const struct stack *stack)
{
	const struct request_function *function = &watch->request.functions[stack->function];
	uint64_t site = watch->machine->lr ? stack->lr : stack->words[0];
	struct entry entry = {
		.function = stack->function,
		.place = registers_place(&watch->registers),
	};
	struct asking asking;
	struct calls_entered entered;
	struct json_line line;

	entry.place.sp = stack->sp;
	if ((function->may_jump && calls_add_site(&watch->calls, site) < 0) ||
		calls_enter(&watch->calls, &entry.place, entry.function, site, &entered) < 0) {
		write_line(watch, record_lost(&line, watch->calls.lost));
		return;
	}
	if (entered.abandoned)
		write_line(watch, record_abandon(&line, entered.abandoned));
	entry.call = entered.number;
	entry.asked = read_asked(&watch->registers, function, stack, &asking);
	entry.stack = number_stack(watch, stack);
	write_line(watch, record_enter(&line, moment, &entry));
	if (function->is_sleep)
		write_line(watch, record_asking(&line, entry.call, &asking));
	if (moment->cpu < WATCH_CPUS_MAX)
		watch->fresh[moment->cpu] = entered.number;
}

/*
 * Runs at the first instruction of a function. For a sleep, runs at the instruction that calls it,
 * because functions of the C library are not watched.
 */
static void on_call(unsigned int cpu, void *data)
{
	const struct watchpoint *watchpoint = data;
	struct watch *watch = watchpoint->watch;
	struct moment moment = moment_of(watch, cpu, watchpoint->insns);
	struct stack stack = {0};

	if (!lock_for(watchpoint))
		return;
	read_stack(watch, watchpoint, &stack);
	if (watchpoint->site && watch->machine->lr)
		stack.lr = watchpoint->site;
	else if (watchpoint->site)
		stack_push(&stack, watch->machine->word_bytes, watchpoint->site);
	begin_call(watch, &moment, &stack);
	pthread_mutex_unlock(&watch->lock);
}

static void on_begun(unsigned int cpu, void *data)
{
	const struct watchpoint *watchpoint = data;

	if (cpu >= WATCH_CPUS_MAX || !lock_for(watchpoint))
		return;
	calls_begin(&watchpoint->watch->calls, watchpoint->watch->fresh[cpu]);
	pthread_mutex_unlock(&watchpoint->watch->lock);
}

/* Runs at a return instruction, or at the site of a call. */
static void on_end(unsigned int cpu, void *data)
{
	const struct watchpoint *watchpoint = data;
	struct watch *watch = watchpoint->watch;
	struct moment moment = moment_of(watch, cpu, watchpoint->insns);
	uint64_t ended[ENDED_MAX];
	struct place place;
	size_t count;

	if (!lock_for(watchpoint))
		return;
	place = registers_place(&watch->registers);
	if (watchpoint->is_site) {
		place.sp -= machine_popped(watch->machine);
		count = calls_arrive(&watch->calls, &place, watchpoint->address, ended, ENDED_MAX);
	} else {
		ended[0] = calls_return(&watch->calls, &place, watchpoint->function);
		count = ended[0] ? 1 : 0;
	}
	record_ended(watch, &moment, ended, count, watchpoint->is_site ? "site" : "return");
	pthread_mutex_unlock(&watch->lock);
}

static struct watchpoint *new_watchpoint(
	struct watch *watch, unsigned int function, uint64_t address, uint64_t insns)
{
	struct watchpoint *watchpoint = calloc(1, sizeof(*watchpoint));

	if (!watchpoint)
		give_up("no", "memory");
	*watchpoint =
		(struct watchpoint){watch, watch->file.known, insns, function, address, 0, false};
	return watchpoint;
}

/* Returns true if the mark's code is there, and not other code at the same offset in a page. */
static bool is_there(struct watch *watch, const struct request_mark *mark, uint64_t address)
{
	uint8_t bytes[REQUEST_WINDOW_BYTES];

	return registers_memory(&watch->registers, address - mark->back, bytes, sizeof(bytes)) &&
	       memcmp(bytes, mark->window, sizeof(bytes)) == 0;
}

static const struct request_mark *find_mark(
	struct watch *watch, enum request_mark_kind kind, uint64_t address)
{
	const struct request_mark *mark = request_first(&watch->request, address);

	while (mark && (mark->kind != kind || !is_there(watch, mark, address)))
		mark = request_next(&watch->request, mark);
	return mark;
}

/* Returns false if there is no room. */
static bool note_loaded(struct watch *watch, unsigned int function, uint64_t entry)
{
	for (size_t i = 0; i < watch->loaded_count; i++) {
		if (watch->loaded[i].function == function && watch->loaded[i].entry == entry)
			return true;
	}
	if (watch->loaded_count == WATCH_LOADED_MAX)
		return false;
	watch->loaded[watch->loaded_count++] = (struct loaded){function, entry};
	return true;
}

static void look_at_begin(struct watch *watch, struct qemu_plugin_tb *block, uint64_t address)
{
	const struct request_mark *entry = find_mark(watch, REQUEST_ENTRY, address);
	size_t insns = qemu_plugin_tb_n_insns(block);
	struct watchpoint *watchpoint;
	struct json_line line;

	if (!entry)
		return;
	if (!note_loaded(watch, entry->function, address)) {
		/* This is the call for which the block is translated; later ones are lost, too. */
		write_line(watch, record_lost(&line, ++watch->calls.lost));
		return;
	}
	watchpoint = new_watchpoint(watch, entry->function, address, insns);
	qemu_plugin_register_vcpu_tb_exec_cb(block, on_call, QEMU_PLUGIN_CB_R_REGS, watchpoint);
	if (insns > 1)
		qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(block, 1), on_begun,
			QEMU_PLUGIN_CB_NO_REGS, watchpoint);
}

static bool is_site(struct watch *watch, uint64_t address)
{
	return calls_has_site(&watch->calls, address) || find_mark(watch, REQUEST_SITE, address);
}

static void look_at_site(struct watch *watch, struct qemu_plugin_tb *block, uint64_t address)
{
	struct watchpoint *watchpoint;

	if (!is_site(watch, address))
		return;
	watchpoint = new_watchpoint(watch, 0, address, qemu_plugin_tb_n_insns(block));
	watchpoint->is_site = true;
	qemu_plugin_register_vcpu_tb_exec_cb(block, on_end, QEMU_PLUGIN_CB_R_REGS, watchpoint);
}

/*
 * Returns the functions, one bit each, that @last returns from: a mark says so, or it is a return
 * instruction within the function.
 */
static uint64_t returning(struct watch *watch, struct qemu_plugin_insn *last, uint64_t address)
{
	uint8_t insn[INSN_BYTES_MAX];
	uint64_t functions = 0;

	for (const struct request_mark *mark = request_first(&watch->request, address); mark;
		mark = request_next(&watch->request, mark)) {
		if (mark->kind == REQUEST_RETURN && is_there(watch, mark, address))
			functions |= UINT64_C(1) << mark->function;
	}
	for (size_t i = 0; i < watch->loaded_count; i++) {
		const struct loaded *loaded = &watch->loaded[i];

		if (address - loaded->entry < watch->request.functions[loaded->function].size &&
			watch->machine->is_return(
				insn, qemu_plugin_insn_data(last, insn, sizeof(insn))))
			functions |= UINT64_C(1) << loaded->function;
	}
	return functions;
}

static void look_at_call(struct watch *watch, struct qemu_plugin_insn *last, uint64_t address)
{
	const struct request_mark *mark = find_mark(watch, REQUEST_CALL, address);
	uint8_t insn[INSN_BYTES_MAX];
	struct watchpoint *watchpoint;

	if (!mark)
		return;
	watchpoint = new_watchpoint(watch, mark->function, address, 0);
	if (!watch->request.functions[mark->function].may_jump)
		watchpoint->site = address + qemu_plugin_insn_data(last, insn, sizeof(insn));
	qemu_plugin_register_vcpu_insn_exec_cb(last, on_call, QEMU_PLUGIN_CB_R_REGS, watchpoint);
}

static void look_at_end(struct watch *watch, struct qemu_plugin_tb *block)
{
	struct qemu_plugin_insn *last =
		qemu_plugin_tb_get_insn(block, qemu_plugin_tb_n_insns(block) - 1);
	uint64_t address = qemu_plugin_insn_vaddr(last);
	uint64_t functions = returning(watch, last, address);

	for (unsigned int i = 0; i < REQUEST_FUNCTIONS_MAX; i++) {
		if (functions & UINT64_C(1) << i)
			qemu_plugin_register_vcpu_insn_exec_cb(last, on_end, QEMU_PLUGIN_CB_R_REGS,
				new_watchpoint(watch, i, address, 0));
	}
	look_at_call(watch, last, address);
}

static void start_cell(struct watch *watch)
{
	const char *text = request_file_text(&watch->file);
	struct json_line line;
	size_t bad;

	if (!text || request_parse(text, &watch->request, &bad) < 0)
		give_up("cannot read", "the request");
	memset(&watch->calls, 0, sizeof(watch->calls));
	watch->stacks.count = 0;
	watch->loaded_count = 0;
	memset(watch->fresh, 0, sizeof(watch->fresh));
	if (mapped_file_clear(&watch->mapped_file) < 0)
		give_up("cannot empty", "the output file");
	watch->is_full = false;
	write_line(watch, record_start(&line));
}

void watch_block(struct watch *watch, struct qemu_plugin_tb *block)
{
	uint64_t address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));

	pthread_mutex_lock(&watch->lock);
	if (request_file_has_changed(&watch->file))
		start_cell(watch);
	if (watch->request.function_count > 0) {
		/* Sites first: where one call ends, another may begin. */
		look_at_site(watch, block, address);
		look_at_begin(watch, block, address);
		look_at_end(watch, block);
	}
	pthread_mutex_unlock(&watch->lock);
}

int watch_init(struct watch *watch, const struct machine *machine, int64_t (*now_ns)(void),
	const char *request_path, const char *out_path)
{
	int ret = request_file_open(&watch->file, request_path);

	if (ret == 0)
		ret = mapped_file_init(&watch->mapped_file, out_path);
	if (ret < 0)
		return ret;
	watch->machine = machine;
	watch->now_ns = now_ns;
	registers_init(&watch->registers, machine);
	pthread_mutex_init(&watch->lock, NULL);
	return 0;
}
