/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_VIRTUAL 1
#define LITTLE_ENDIAN_DEVICE 2
#define ABOVE_ALL_REGIONS 1000
#define REGION_TYPE "memory-region"
#define REGION_ROOM_BYTES 4096 /* QEMU's own struct takes less than a tenth */

/* Above all memory and devices of the rig's machines. */
#define TRIAL_ADDRESS (UINT64_C(0xF) << 36)
#define TRIAL_BYTES 4096
#define TRIAL_ACCESSES 7

/* QEMU's names and layouts. */
typedef struct MemoryRegion MemoryRegion;
typedef struct Object Object;

struct region_ops {
	uint64_t (*read)(void *opaque, uint64_t offset, unsigned int size_bytes);
	void (*write)(void *opaque, uint64_t offset, uint64_t value, unsigned int size_bytes);
	void *read_with_attributes;
	void *write_with_attributes;
	int endianness;
	struct {
		unsigned int bytes_min;
		unsigned int bytes_max;
		bool unaligned;
		void *accepts;
	} valid;
	struct {
		unsigned int bytes_min;
		unsigned int bytes_max;
		bool unaligned;
	} implemented;
};

struct notifier {
	void (*notify)(struct notifier *self, void *data);
	void *next;
	void *previous;
};

/*
 * QEMU's functions, by its names. The size of a dispatch is a binary logarithm; its attributes are
 * a struct of bits that fits into 64 bits.
 */
#define QEMU_FUNCTIONS(FUNCTION)                                                                   \
	FUNCTION(MemoryRegion *, get_system_memory, void)                                          \
	FUNCTION(void, memory_region_init_io, MemoryRegion *, Object *,                            \
		const struct region_ops *ops, void *opaque, const char *name, uint64_t size_bytes) \
	FUNCTION(void, memory_region_add_subregion_overlap, MemoryRegion *, uint64_t offset,       \
		MemoryRegion *part, int priority)                                                  \
	FUNCTION(void, memory_region_del_subregion, MemoryRegion *, MemoryRegion *)                \
	FUNCTION(const char *, memory_region_name, const MemoryRegion *region)                     \
	FUNCTION(uint64_t, memory_region_size, MemoryRegion *)                                     \
	FUNCTION(void, memory_region_set_enabled, MemoryRegion *, bool enabled)                    \
	FUNCTION(unsigned int, memory_region_dispatch_read, MemoryRegion *, uint64_t offset,       \
		uint64_t *value, unsigned int size, uint64_t attributes)                           \
	FUNCTION(unsigned int, memory_region_dispatch_write, MemoryRegion *, uint64_t offset,      \
		uint64_t value, unsigned int size, uint64_t attributes)                            \
	FUNCTION(void, cpu_physical_memory_rw, uint64_t address, void *bytes, uint64_t count,      \
		bool is_write)                                                                     \
	FUNCTION(Object *, object_get_root, void)                                                  \
	FUNCTION(int, object_child_foreach_recursive, Object *,                                    \
		int (*each)(Object *, void *opaque), void *opaque)                                 \
	FUNCTION(const char *, object_get_typename, const Object *object)                          \
	FUNCTION(void, qemu_add_machine_init_done_notifier, struct notifier *)                     \
	FUNCTION(void *, qemu_add_vm_change_state_handler,                                         \
		void (*changed)(void *opaque, bool running, int state), void *opaque)              \
	FUNCTION(int64_t, qemu_clock_get_ns, int type)

struct qemu {
	struct notifier machine_done; /* must be first: QEMU passes it to on_machine_done() */
	const struct qemu_events *events;
	QEMU_FUNCTIONS(QEMU_FIELD)
};

/* QEMU's data for our registers. */
struct region {
	struct region_ops ops;
	_Alignas(max_align_t) uint8_t room[REGION_ROOM_BYTES];
};

#define SYMBOL(result_, name_, ...) QEMU_SYMBOL(struct qemu, name_),

static const struct qemu_symbol functions[] = {QEMU_FUNCTIONS(SYMBOL)};

bool qemu_find_symbols(
	const struct qemu_symbol *symbols, size_t count, void *owner, const char **missing)
{
	for (size_t i = 0; i < count; i++) {
		void *found = dlsym(RTLD_DEFAULT, symbols[i].name);

		*missing = symbols[i].name;
		if (!found)
			return false;
		memcpy((char *)owner + symbols[i].offset, (const void *)&found, sizeof(found));
	}
	return true;
}

struct qemu *qemu_find(const char **missing)
{
	struct qemu *qemu = calloc(1, sizeof(*qemu));

	if (qemu && qemu_find_symbols(
			    functions, sizeof(functions) / sizeof(functions[0]), qemu, missing))
		return qemu;
	free(qemu);
	return NULL;
}

uint64_t qemu_now_ns(const struct qemu *qemu)
{
	return (uint64_t)qemu->qemu_clock_get_ns(CLOCK_VIRTUAL);
}

static void on_machine_done(struct notifier *notifier, void *data)
{
	const struct qemu *qemu = (const struct qemu *)notifier;

	(void)data;
	qemu->events->machine_done(qemu->events->owner);
}

static void on_change(void *opaque, bool running, int state)
{
	const struct qemu *qemu = opaque;
	const struct qemu_events *events = qemu->events;

	(void)state;
	(running ? events->resumed : events->paused)(events->owner, qemu_now_ns(qemu));
}

void qemu_listen(struct qemu *qemu, const struct qemu_events *events)
{
	qemu->events = events;
	qemu->machine_done.notify = on_machine_done;
	qemu->qemu_add_machine_init_done_notifier(&qemu->machine_done);
	qemu->qemu_add_vm_change_state_handler(on_change, qemu);
}

/* Returns NULL if there is no memory. */
static MemoryRegion *make_region(struct qemu *qemu, const struct qemu_registers *registers)
{
	struct region *region = calloc(1, sizeof(*region));
	unsigned int bytes_max = registers->access_bytes_max;

	if (!region)
		return NULL;
	region->ops = (struct region_ops){
		.read = registers->read,
		.write = registers->write,
		.endianness = LITTLE_ENDIAN_DEVICE,
		.valid = {.bytes_min = 1, .bytes_max = 8, .unaligned = true},
		.implemented = {.bytes_min = 1, .bytes_max = bytes_max, .unaligned = true},
	};
	qemu->memory_region_init_io((MemoryRegion *)region->room, NULL, &region->ops,
		registers->owner, registers->name, registers->size_bytes);
	return (MemoryRegion *)region->room;
}

struct search {
	const struct qemu *qemu;
	const char *name;
	MemoryRegion *found;
	unsigned int count;
};

static int look_at(Object *child, void *opaque)
{
	struct search *search = opaque;
	MemoryRegion *region = (MemoryRegion *)child;

	if (strcmp(search->qemu->object_get_typename(child), REGION_TYPE) == 0 &&
		strcmp(search->qemu->memory_region_name(region), search->name) == 0) {
		search->found = region;
		search->count++;
	}
	return 0;
}

MemoryRegion *qemu_find_region(struct qemu *qemu, const char *name)
{
	struct search search = {.qemu = qemu, .name = name};

	qemu->object_child_foreach_recursive(qemu->object_get_root(), look_at, &search);
	return search.count == 1 ? search.found : NULL;
}

int qemu_lay_over(struct qemu *qemu, const char *region, uint64_t offset,
	const struct qemu_registers *registers, struct qemu_layer *layer)
{
	MemoryRegion *found = qemu_find_region(qemu, region);
	MemoryRegion *own;

	if (!found)
		return -ENODEV;
	if (qemu->memory_region_size(found) < offset + registers->size_bytes)
		return -ERANGE;
	own = make_region(qemu, registers);
	if (!own)
		return -ENOMEM;
	qemu->memory_region_add_subregion_overlap(found, offset, own, ABOVE_ALL_REGIONS);
	*layer = (struct qemu_layer){.registers = own, .beneath = found, .offset = offset};
	return 0;
}

static unsigned int log2_of(unsigned int size_bytes)
{
	return (unsigned int)__builtin_ctz(size_bytes);
}

uint64_t qemu_read_region(
	struct qemu *qemu, MemoryRegion *region, uint64_t offset, unsigned int size_bytes)
{
	uint64_t value = 0;

	qemu->memory_region_dispatch_read(region, offset, &value, log2_of(size_bytes), 0);
	return value;
}

void qemu_write_region(struct qemu *qemu, MemoryRegion *region, uint64_t offset, uint64_t value,
	unsigned int size_bytes)
{
	qemu->memory_region_dispatch_write(region, offset, value, log2_of(size_bytes), 0);
}

void qemu_show(struct qemu *qemu, const struct qemu_layer *layer, bool shown)
{
	qemu->memory_region_set_enabled(layer->registers, shown);
}

/* The accesses to the registers of a trial. */
struct trial {
	size_t count;
	struct trial_access {
		uint64_t offset;
		uint64_t value; /* the written value; 0 for a read */
		unsigned int size_bytes;
	} accesses[TRIAL_ACCESSES];
};

static void note(struct trial *trial, struct trial_access access)
{
	if (trial->count < TRIAL_ACCESSES)
		trial->accesses[trial->count] = access;
	trial->count++;
}

static uint64_t trial_read(void *owner, uint64_t offset, unsigned int size_bytes)
{
	note(owner, (struct trial_access){.offset = offset, .size_bytes = size_bytes});
	return 0x40 + offset;
}

static void trial_write(void *owner, uint64_t offset, uint64_t value, unsigned int size_bytes)
{
	note(owner,
		(struct trial_access){.offset = offset, .value = value, .size_bytes = size_bytes});
}

static bool trial_saw(const struct trial *trial)
{
	static const struct trial_access wanted[TRIAL_ACCESSES] = {
		{3, 0, 1}, {4, 0, 1}, {5, 0, 1}, {6, 0, 1}, {7, 0x5A, 1}, {8, 0, 1}, {9, 0, 1}};
	bool same = trial->count == TRIAL_ACCESSES;

	for (size_t i = 0; i < TRIAL_ACCESSES && same; i++) {
		const struct trial_access *saw = &trial->accesses[i];

		same = saw->offset == wanted[i].offset && saw->value == wanted[i].value &&
		       saw->size_bytes == wanted[i].size_bytes;
	}
	return same;
}

bool qemu_registers_work(struct qemu *qemu)
{
	struct trial *trial = calloc(1, sizeof(*trial));
	const struct qemu_registers registers = {
		.name = "rig-trial",
		.size_bytes = TRIAL_BYTES,
		.access_bytes_max = 1,
		.read = trial_read,
		.write = trial_write,
		.owner = trial,
	};
	MemoryRegion *memory = qemu->get_system_memory();
	MemoryRegion *own = trial ? make_region(qemu, &registers) : NULL;
	uint8_t read[4] = {0};
	uint8_t written = 0x5A;
	bool work;

	if (!own) {
		free(trial);
		return false;
	}
	qemu->memory_region_add_subregion_overlap(memory, TRIAL_ADDRESS, own, ABOVE_ALL_REGIONS);
	qemu->cpu_physical_memory_rw(TRIAL_ADDRESS + 3, read, sizeof(read), false);
	qemu->cpu_physical_memory_rw(TRIAL_ADDRESS + 7, &written, sizeof(written), true);
	work = qemu_read_region(qemu, own, 8, 2) == 0x4948;
	qemu->memory_region_del_subregion(memory, own);
	work = work && trial_saw(trial) && memcmp(read, "CDEF", sizeof(read)) == 0;
	/* QEMU may use the region for some time after its removal (RCU), so it is not freed. */
	free(trial);
	return work;
}
