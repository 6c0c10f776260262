/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of the CPU plugin that QEMU calls.
 *
 * Every block compares its vCPU's counter with COUNT_END, and adds its instructions to the counter;
 * both are inline code. The counter starts one quantum below COUNT_END. So the vCPU calls
 * on_quantum() once a quantum at any speed, and all blocks compare with the same constant.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "options.h"
#include "qemu_plugin_api.h"
#include "service.h"
#include "shared/timespec.h"

#define COUNT_END (UINT64_C(1) << 30)
#define TIMER_SLACK_NS 1
#define SCRIPT_BYTES_MAX (1 << 20)

_Static_assert(COUNT_END > VCPU_QUANTUM_INSTRUCTIONS_MAX, "a quantum fits below the end");

/*
 * 64 bytes, so that generated code multiplies the index by a power of two, and no two vCPUs share a
 * cache line.
 */
struct counter {
	uint64_t count;
	uint64_t begun; /* the value that it was set to */
	uint64_t unused[6];
};

_Static_assert(sizeof(struct counter) == 64, "one cache line");

struct plugin {
	struct options options;
	struct script script;
	struct qemu_plugin_scoreboard *counters;
	struct core *cores;
	unsigned int core_count;
	struct service *service;
};

/* Callbacks without user data have no other way to the state. */
static struct plugin *plugin;

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API_MIN;

static int complain(const char *text)
{
	fprintf(stderr, "cpu plugin: %s\n", text);
	return -EINVAL;
}

static struct counter *counter_of(unsigned int index)
{
	return qemu_plugin_scoreboard_find(plugin->counters, index);
}

/* Returns the number of instructions since the counter was set. */
static uint64_t counted(unsigned int index)
{
	const struct counter *counter = counter_of(index);

	return counter->count - counter->begun;
}

static void count_up_to(unsigned int index, uint64_t quantum)
{
	struct counter *counter = counter_of(index);

	counter->begun = COUNT_END - quantum;
	counter->count = counter->begun;
}

/* Runs once a quantum in the vCPU's thread. QEMU holds no lock, so it may sleep. */
static void on_quantum(unsigned int index, void *unused)
{
	(void)unused;
	count_up_to(index, core_settle(&plugin->cores[index], counted(index),
				   plugin->options.spin_us * NS_PER_US));
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	const qemu_plugin_u64 count = {plugin->counters, offsetof(struct counter, count)};

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cond_cb(block, on_quantum, QEMU_PLUGIN_CB_NO_REGS,
		QEMU_PLUGIN_COND_GE, count, COUNT_END, NULL);
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
		block, QEMU_PLUGIN_INLINE_ADD_U64, count, qemu_plugin_tb_n_insns(block));
}

/* If vCPUs shared one thread, a vCPU that sleeps would delay the others. */
static void refuse_shared_thread(unsigned int index)
{
	pid_t thread = gettid();

	for (unsigned int i = 0; i < plugin->core_count; i++) {
		if (i != index && plugin->cores[i].thread == thread) {
			complain("vCPUs share a thread; the plugin needs -accel tcg,thread=multi");
			_exit(EXIT_FAILURE);
		}
	}
	plugin->cores[index].thread = thread;
}

static void on_vcpu_init(qemu_plugin_id_t id, unsigned int index)
{
	(void)id;
	refuse_shared_thread(index);
	/* With the default slack, sleeps end up to 50 us late. */
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
	count_up_to(index, core_resume(&plugin->cores[index]));
}

static void on_vcpu_idle(qemu_plugin_id_t id, unsigned int index)
{
	(void)id;
	core_idle(&plugin->cores[index], counted(index));
}

static void on_vcpu_resume(qemu_plugin_id_t id, unsigned int index)
{
	(void)id;
	count_up_to(index, core_resume(&plugin->cores[index]));
}

static void on_vcpu_exit(qemu_plugin_id_t id, unsigned int index)
{
	on_vcpu_idle(id, index);
	plugin->cores[index].thread = 0;
}

/* Ends only the service and its trace, because other vCPUs may still be running. */
static void on_qemu_exit(qemu_plugin_id_t id, void *unused)
{
	(void)id;
	(void)unused;
	service_destroy(plugin->service);
	plugin->service = NULL;
}

/* Returns the text of the file, which the caller frees; NULL if it is missing, empty or too long.
 */
static char *read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = file ? calloc(1, SCRIPT_BYTES_MAX) : NULL;
	size_t len = text ? fread(text, 1, SCRIPT_BYTES_MAX, file) : 0;

	if (file)
		fclose(file);
	if (len > 0 && len < SCRIPT_BYTES_MAX)
		return text;
	free(text);
	return NULL;
}

static int load_script(const char *path, struct script *script)
{
	char error[OPTIONS_ERROR_BYTES];
	char *text = read_text(path);
	size_t line;
	int ret;

	if (!text) {
		snprintf(error, sizeof(error), "script %s: missing, empty, or not below 1 MiB",
			path);
		return complain(error);
	}
	ret = script_parse(text, script, &line);
	free(text);
	if (ret == 0)
		return 0;
	snprintf(error, sizeof(error),
		"script %s: line %zu: T_MS VCPU MIPS|auto [RAMP_US], by time", path, line);
	return complain(error);
}

static int read_arguments(struct plugin *made, int argc, char **argv)
{
	char error[OPTIONS_ERROR_BYTES];

	if (options_parse(argc, argv, &made->options, error) < 0)
		return complain(error);
	for (unsigned int i = 0; i < made->core_count; i++) {
		if (options_check_vcpu(&made->options, i, error) < 0)
			return complain(error);
	}
	return made->options.script ? load_script(made->options.script, &made->script) : 0;
}

static int make_cores(struct plugin *made, uint64_t start_ns)
{
	made->cores = calloc(made->core_count, sizeof(*made->cores));
	made->counters = qemu_plugin_scoreboard_new(sizeof(struct counter));
	if (!made->cores || !made->counters)
		return complain("no memory");
	for (unsigned int i = 0; i < made->core_count; i++) {
		struct vcpu_config config;

		options_vcpu(&made->options, i, &config);
		pthread_mutex_init(&made->cores[i].lock, NULL);
		vcpu_init(&made->cores[i].vcpu, i, &config, &made->script, start_ns);
	}
	return 0;
}

static int start_service(struct plugin *made, const qemu_info_t *info, uint64_t start_ns)
{
	const struct trace_host host = {
		.target = info->target_name,
		.api = info->version.cur,
		.vcpus = made->core_count,
	};
	char error[OPTIONS_ERROR_BYTES];

	if (service_create(&made->service, made->cores, &host, &made->options, start_ns, error) < 0)
		return complain(error);
	return 0;
}

static void register_callbacks(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
	qemu_plugin_register_vcpu_idle_cb(id, on_vcpu_idle);
	qemu_plugin_register_vcpu_resume_cb(id, on_vcpu_resume);
	qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
	qemu_plugin_register_atexit_cb(id, on_qemu_exit, NULL);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(
	qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	uint64_t start_ns = monotonic_ns();
	struct plugin *made;

	if (!qemu_plugin_api_fits(info))
		return complain(QEMU_PLUGIN_API_NEEDED);
	made = calloc(1, sizeof(*made));
	if (!made)
		return complain("no memory");
	made->core_count = (unsigned int)info->system.max_vcpus;
	/* QEMU exits after a failure, so nothing is freed. */
	if (read_arguments(made, argc, argv) < 0 || make_cores(made, start_ns) < 0 ||
		start_service(made, info, start_ns) < 0)
		return -EINVAL;
	plugin = made;
	register_callbacks(id);
	return 0;
}
