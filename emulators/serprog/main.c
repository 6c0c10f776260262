/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serprog-emu: allocates, opens and locks what a run needs, runs it, and writes its results. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "image.h"
#include "link.h"
#include "listener.h"
#include "options.h"
#include "record/events.h"
#include "server.h"

#define EXIT_USAGE 2
#define EXIT_FAULT 99

/* Room for the events of a long job: no memory is allocated while it runs. */
#define EVENTS_REALTIME_COUNT 131072

/* More stack than the deepest call takes. */
#define STACK_BYTES (64 * 1024)

struct run {
	struct options *options;
	struct standby_words rest;
	struct clock clock;
	struct chip chip;
	struct device device;
	struct events events;
	struct server server;
	struct run_facts facts;
	struct listener listener;
	struct outfile events_file;
	struct outfile image_file;
	struct outfile sparse_file;
};

static int fault(const char *what, int error, const char *remedy)
{
	fprintf(stderr, "serprog-emu: %s: %s; %s\n", what, strerror(-error), remedy);
	return EXIT_FAULT;
}

static int bad_file(const char *option, const char *path, int error)
{
	fprintf(stderr, "serprog-emu: --%s %s: %s; give another file\n", option, path,
		strerror(-error));
	return EXIT_USAGE;
}

static int open_out(struct outfile *file, const char *option, const char *path)
{
	int ret = path ? outfile_open(file, path) : 0;

	return ret < 0 ? bad_file(option, path, ret) : 0;
}

static int open_files(struct run *run)
{
	const struct options *options = run->options;
	int status = open_out(&run->events_file, "events", options->events_path);

	if (status == 0)
		status = open_out(&run->image_file, "image-out", options->image_out_path);
	if (status == 0)
		status = open_out(
			&run->sparse_file, "image-out-sparse", options->image_out_sparse_path);
	return status;
}

/* Pages that are never written take no memory, unless --realtime locks all (before Linux 4.4). */
static void *map_memory(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int load_chip(struct run *run)
{
	const struct options *options = run->options;
	void *memory = map_memory(chip_memory_bytes(options->part));
	int ret;

	if (!memory)
		return fault("chip", -ENOMEM, "free some memory or take a smaller --chip");
	chip_init(&run->chip, options->part, &options->corner, memory);
	chip_stick_from(&run->chip, faults_stuck_from(&options->faults));
	run->chip.noise_seed ^= options->seed;
	if (!options->image_in_path)
		return 0;
	ret = image_load(&run->chip.array, options->image_in_path, options->image_offset_bytes);
	return ret < 0 ? bad_file("image-in", options->image_in_path, ret) : 0;
}

static int make_buffers(struct run *run)
{
	size_t event_count = run->options->realtime_priority > 0 ? EVENTS_REALTIME_COUNT : 1;
	struct serprog_limits limits =
		device_limits(run->options->part, &run->options->device.link);
	int ret = events_init(&run->events, event_count);

	run->server.request_buffer = map_memory(link_buffer_bytes(&limits));
	run->server.reply_buffer = map_memory(server_reply_buffer_bytes(&limits));
	if (ret < 0 || !run->server.request_buffer || !run->server.reply_buffer)
		return fault("buffers", -ENOMEM, "free some memory");
	return 0;
}

/*
 * SIGTERM and SIGINT are read from a descriptor. SIGPIPE is blocked: if the peer is gone, write()
 * returns an error.
 */
static int take_signals(struct run *run)
{
	sigset_t stop;
	sigset_t blocked;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	blocked = stop;
	sigaddset(&blocked, SIGPIPE);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	run->server.signal_fd = signalfd(-1, &stop, SFD_CLOEXEC);
	return run->server.signal_fd < 0 ? fault("signalfd", -errno, "needs Linux") : 0;
}

static int start_clock(struct run *run)
{
	int ret;

	if (run->options->clock_source == CLOCK_SOURCE_SCRIPTED) {
		clock_init_scripted(&run->clock, run->options->clock_step_ns);
		return 0;
	}
	ret = clock_init(&run->clock, run->options->clock_source);
	if (ret == -ENOTSUP) {
		fprintf(stderr, "serprog-emu: no counter of this CPU is known; "
				"give --clock monotonic\n");
		return EXIT_USAGE;
	}
	return ret < 0 ? fault("clock", ret, "give --clock monotonic") : 0;
}

/* Touches the stack now, so that it causes no page faults later. */
static void prefault_stack(void)
{
	volatile char stack[STACK_BYTES];

	for (size_t i = 0; i < sizeof(stack); i += 1024)
		stack[i] = 0;
}

/*
 * Locks each page when it is first used. Locking all memory now, 50 MB for a whole part and all
 * possible events, would take a second in a slow guest, although a job uses few of these pages.
 */
static int lock_memory(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0)
		return 0;
	return mlockall(MCL_CURRENT | MCL_FUTURE) < 0 ? -errno : 0; /* before Linux 4.4 */
}

static int pin(const struct options *options)
{
	cpu_set_t set;

	if (options->cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET((size_t)options->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return fault("--cpu", -errno, "give a CPU that this machine has");
	return 0;
}

/* Pins the process first, so that memory is faulted in on the CPU that uses it. */
static int go_realtime(struct run *run)
{
	const struct options *options = run->options;
	const struct sched_param param = {.sched_priority = options->realtime_priority};
	int status = pin(options);
	int ret;

	if (status != 0 || options->realtime_priority == 0)
		return status;
	ret = lock_memory();
	if (ret == 0) {
		prefault_stack();
		ret = sched_setscheduler(0, SCHED_FIFO, &param) < 0 ? -errno : 0;
	}
	return ret < 0 ? fault("--realtime", ret, "run as root, or leave it out") : 0;
}

static int measure_wake(struct run *run)
{
	struct wake_latency latency;
	unsigned int round_count = run->options->wake_round_count;
	int ret;

	run->facts.wake_measured = false;
	if (round_count == 0)
		return 0;
	ret = wake_measure(run->options->clock_source, round_count, &latency);
	if (ret < 0)
		return fault("--measure-wake", ret, "bring the loopback interface up, or give 0");
	run->facts.wake_measured = true;
	run->facts.wake_latency_ns_min = latency.ns_min;
	run->facts.wake_latency_ns_max = latency.ns_max;
	return 0;
}

static int announce(int ready_fd, const struct listener *listener)
{
	char line[LISTENER_PATH_BYTES + 1];
	int len = snprintf(line, sizeof(line), "%s\n", listener->name);

	if (ready_fd < 0) {
		fprintf(stderr, "serprog-emu: listening on %s%s\n",
			listener->kind == LISTENER_TCP ? "port " : "", listener->name);
		return 0;
	}
	if (write(ready_fd, line, (size_t)len) != len)
		return fault("--ready-fd", -errno, "give a descriptor that is open for writing");
	close(ready_fd);
	return 0;
}

static void fill_facts(struct run *run)
{
	const struct options *options = run->options;

	run->facts.start_ns = clock_now_ns(&run->clock);
	run->facts.part = options->part;
	run->facts.corner = options->corner;
	run->facts.seed = options->seed;
	run->facts.native_delay = options->device.native_delay;
	run->facts.clock_name = clock_source_name(options->clock_source);
	run->facts.clock_step_ns = run->clock.step_ns;
	run->facts.link = options->link_words;
	run->facts.faults = options->faults.count > 0 ? options->faults.text : NULL;
	/*
	 * If a link or a fault delays the device, bytes can wait in the socket for longer than a
	 * wake-up takes. The bound then holds for some requests, and only the link knows which.
	 */
	if (!link_model_takes_time(&options->device.link) && !faults_hold(&options->faults)) {
		/* The kernel does not stamp bytes by the CPU's counter, so the bound is used. */
		run->server.wake_suffices =
			run->facts.wake_measured && options->clock_source == CLOCK_SOURCE_COUNTER;
		return;
	}
	if (run->facts.wake_measured)
		run->server.wake_ns_max = run->facts.wake_latency_ns_max;
	run->facts.wake_measured = false;
}

static int listen_for_client(struct run *run)
{
	int ret = listener_open(&run->options->listen, &run->listener);

	run->server.listener = &run->listener;
	return ret < 0 ? fault("--listen", ret, "give an address of this machine that is free") : 0;
}

static int stand_by(struct run *run)
{
	struct options *options = run->options;
	int ret;

	if (options->standby.in < 0)
		return 0;
	ret = standby_wait(&options->standby, run->server.signal_fd, &run->rest);
	if (ret < 0)
		return fault("--standby", ret, "write words with a NUL after each, then close");
	if (options_parse_rest(run->rest.argc, run->rest.argv, options) != OPTIONS_RUN)
		return EXIT_USAGE;
	ret = options->cpu_given ? pin(options) : 0;
	return ret == 0 && options->wake_given ? measure_wake(run) : ret;
}

/* The steps up to listen_for_client() are the same for every chip, so they precede stand_by(). */
static int prepare(struct run *run)
{
	static int (*const steps[])(struct run *run) = {take_signals, start_clock, go_realtime,
		measure_wake, listen_for_client, stand_by, load_chip, open_files, make_buffers};
	int status = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && status == 0; i++)
		status = steps[i](run);
	return status;
}

static void power_up(struct run *run)
{
	uint64_t now_ns = run->facts.start_ns;
	uint64_t ago_ns = run->options->powered_up_ns_ago;

	if (run->options->power_up_given)
		chip_power_cycle(&run->chip, ago_ns < now_ns ? now_ns - ago_ns : 0);
	chip_plan_power_cut(&run->chip, &run->options->power_cut);
}

static int serve(struct run *run)
{
	struct options *options = run->options;
	int ret;

	device_init(&run->device, &run->chip, &run->clock, &run->events, &options->device);
	run->server.device = &run->device;
	run->server.clock = &run->clock;
	run->server.events = &run->events;
	run->server.faults = &options->faults;
	run->server.refuses = options->refuses;
	run->server.start_state = options->start_state;
	run->server.records_max = options->records_max;
	run->server.barrier = options->barrier;
	fill_facts(run);
	power_up(run);
	run->server.empty_ns = run->facts.start_ns;
	ret = announce(options->ready_fd, &run->listener);
	if (ret != 0)
		return ret;
	ret = server_run(&run->server, options->client_count);
	if (run->server.cut_off)
		fprintf(stderr, "serprog-emu: told to end while its client was there\n");
	if (run->server.held_up)
		run->facts.wake_measured = false;
	if (ret == -EPIPE)
		return fault("--barrier-fds", ret, "keep both other ends open");
	return ret < 0 ? fault("accept", ret, "see the kernel log") : 0;
}

static int commit(struct outfile *file, int written, const char *option)
{
	int ret = written == 0 ? outfile_commit(file) : written;

	return ret < 0 ? fault(option, ret, "make room for it") : 0;
}

static bool is_clean(const struct run *run)
{
	return run->clock.backward_count == 0 && run->events.lost_count == 0;
}

static int write_events(struct run *run)
{
	struct run_end end = {.end_ns = clock_now_ns(&run->clock), .clean = is_clean(run)};

	if (!run->events_file.stream)
		return 0;
	return commit(&run->events_file,
		jsonl_write(run->events_file.stream, &run->facts, &run->events, &end), "--events");
}

static int write_images(struct run *run)
{
	const struct array *array = &run->chip.array;
	int status = 0;

	if (run->image_file.stream)
		status = commit(&run->image_file, image_write(array, run->image_file.stream),
			"--image-out");
	if (run->sparse_file.stream && status == 0)
		status = commit(&run->sparse_file,
			image_write_sparse(array, run->sparse_file.stream), "--image-out-sparse");
	return status;
}

/* Writes events and images even after a fault, because they may explain it. */
static int finish(struct run *run)
{
	int events_status = write_events(run);
	int images_status;

	chip_settle(&run->chip, clock_now_ns(&run->clock));
	images_status = write_images(run);
	if (events_status || images_status)
		return EXIT_FAULT;
	if (is_clean(run))
		return 0;
	fprintf(stderr,
		"serprog-emu: the clock went back %llu times, %zu records were lost; "
		"choose another --clock, or free some memory\n",
		(unsigned long long)run->clock.backward_count, run->events.lost_count);
	return EXIT_FAULT;
}

/*
 * Leaves realtime priority before the records are written, and lets all other processes run first,
 * because none of them waits for the records. A subject disconnects before it exits; at realtime
 * priority, writing the records would delay its exit: by 0.2 s to 0.4 s after a write of 1 MiB in a
 * guest of 500 MIPS.
 */
static int let_subject_end(const struct options *options)
{
	const struct sched_param param = {.sched_priority = 0};

	if (options->realtime_priority > 0 && sched_setscheduler(0, SCHED_IDLE, &param) < 0)
		return fault("--realtime", -errno, "leave it out");
	return 0;
}

static int run_with(struct options *options)
{
	struct run run = {
		.options = options,
		.listener = {.fd = -1},
	};
	int status = prepare(&run);

	if (status == 0) {
		int finished;

		status = serve(&run);
		if (status == 0)
			status = let_subject_end(options);
		finished = finish(&run);
		if (status == 0)
			status = finished;
	}
	listener_close(&run.listener);
	outfile_deinit(&run.events_file);
	outfile_deinit(&run.image_file);
	outfile_deinit(&run.sparse_file);
	events_deinit(&run.events);
	return status;
}

int main(int argc, char *argv[])
{
	struct options options;

	switch (options_parse(argc, argv, &options)) {
	case OPTIONS_RUN:
		return run_with(&options);
	case OPTIONS_DONE:
		return 0;
	default:
		return EXIT_USAGE;
	}
}
