/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target if the compiler has no libFuzzer: every input of the corpus, then random
 * changes of them from a seed, up to a number of executions or a time. It does not measure
 * coverage, so it finds less than libFuzzer; the corpus makes up for some of that.
 *
 * It takes the options of libFuzzer that run_fuzz.py gives. The target runs in a child, so that the
 * parent can save the input of a crash.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define INPUT_BYTES_MAX 4096
#define PATH_BYTES_MAX 4096
#define CHANGES_MAX 8
#define EXECUTIONS_PER_LOOK 64 /* executions between two looks at the clock */
#define INPUT_S_MAX 100        /* an input that takes longer is a hang */

struct input {
	uint8_t *bytes;
	size_t size;
};

struct corpus {
	struct input *inputs;
	size_t count;
};

/* The state that parent and child share. */
struct stage {
	uint64_t executions;
	size_t size;
	uint8_t bytes[INPUT_BYTES_MAX];
};

struct options {
	uint64_t seed;
	uint64_t runs_max; /* 0 for no limit */
	uint64_t seconds;
	const char *artifact_prefix;
};

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t value = *state += UINT64_C(0x9E3779B97F4A7C15);

	value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
	return value ^ value >> 31;
}

static size_t draw_below(uint64_t *state, size_t bound)
{
	return bound > 0 ? (size_t)(draw(state) % bound) : 0;
}

static void remove_some(struct stage *stage, uint64_t *state)
{
	size_t at = draw_below(state, stage->size);
	size_t count = 1 + draw_below(state, 8);

	if (count > stage->size - at)
		count = stage->size - at;
	memmove(stage->bytes + at, stage->bytes + at + count, stage->size - at - count);
	stage->size -= count;
}

/* Inserts bytes of an input of the corpus. */
static void insert_some(struct stage *stage, const struct corpus *corpus, uint64_t *state)
{
	const struct input *other = &corpus->inputs[draw_below(state, corpus->count)];
	size_t at = draw_below(state, stage->size + 1);
	size_t from = draw_below(state, other->size);
	size_t count = 1 + draw_below(state, 32);

	if (count > other->size - from)
		count = other->size - from;
	if (count > INPUT_BYTES_MAX - stage->size)
		count = INPUT_BYTES_MAX - stage->size;
	memmove(stage->bytes + at + count, stage->bytes + at, stage->size - at);
	memcpy(stage->bytes + at, other->bytes + from, count);
	stage->size += count;
}

static void change_byte(struct stage *stage, uint64_t *state)
{
	static const uint8_t edges[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF};
	uint8_t *byte = &stage->bytes[draw_below(state, stage->size)];

	switch (draw_below(state, 3)) {
	case 0:
		*byte ^= (uint8_t)(1u << draw_below(state, 8));
		break;
	case 1:
		*byte = edges[draw_below(state, sizeof(edges))];
		break;
	default:
		*byte = (uint8_t)draw(state);
		break;
	}
}

static void change(struct stage *stage, const struct corpus *corpus, uint64_t *state)
{
	size_t how = draw_below(state, 6);

	if (stage->size == 0 || how == 0)
		insert_some(stage, corpus, state);
	else if (how == 1)
		remove_some(stage, state);
	else
		change_byte(stage, state);
}

static void set_up(struct stage *stage, const struct input *input)
{
	stage->size = input->size;
	if (input->size > 0)
		memcpy(stage->bytes, input->bytes, input->size);
}

/* Runs the target on a heap copy of the input's exact size: ASan sees any read beyond it. */
static void execute(struct stage *stage)
{
	uint8_t *copy = malloc(stage->size);

	if (stage->size > 0)
		memcpy(copy, stage->bytes, stage->size);
	stage->executions++;
	alarm(INPUT_S_MAX);
	LLVMFuzzerTestOneInput(copy, stage->size);
	free(copy);
}

static uint64_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

static bool is_over(const struct stage *stage, const struct options *options, uint64_t start_s)
{
	if (options->runs_max > 0 && stage->executions >= options->runs_max)
		return true;
	return stage->executions % EXECUTIONS_PER_LOOK == 0 &&
	       now_s() - start_s >= options->seconds;
}

static void fuzz(struct stage *stage, const struct corpus *corpus, const struct options *options)
{
	uint64_t start_s = now_s();
	uint64_t state = options->seed;

	for (size_t i = 0; i < corpus->count; i++) {
		set_up(stage, &corpus->inputs[i]);
		execute(stage);
	}
	while (!is_over(stage, options, start_s)) {
		size_t changes = 1 + draw_below(&state, CHANGES_MAX);

		set_up(stage, &corpus->inputs[draw_below(&state, corpus->count)]);
		for (size_t i = 0; i < changes; i++)
			change(stage, corpus, &state);
		execute(stage);
	}
}

static void add_input(struct corpus *corpus, const uint8_t *bytes, size_t size)
{
	struct input input = {.bytes = malloc(size + 1), .size = size};

	corpus->inputs = realloc(corpus->inputs, (corpus->count + 1) * sizeof(input));
	FUZZ_CHECK(corpus->inputs != NULL && input.bytes != NULL);
	memcpy(input.bytes, bytes, size);
	corpus->inputs[corpus->count++] = input;
}

static void read_file(struct corpus *corpus, const char *path)
{
	uint8_t bytes[INPUT_BYTES_MAX];
	FILE *file = fopen(path, "rb");

	if (!file) {
		fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
		exit(EXIT_FAILURE);
	}
	add_input(corpus, bytes, fread(bytes, 1, sizeof(bytes), file));
	fclose(file);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * Reads the files of a folder in sorted order, so that a seed gives the same run on each machine;
 * or reads one file.
 */
static void read_corpus(struct corpus *corpus, const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, by_name);

	if (count < 0)
		read_file(corpus, path);
	for (int i = 0; i < count; i++) {
		char name[PATH_BYTES_MAX];

		if (entries[i]->d_name[0] != '.' && snprintf(name, sizeof(name), "%s/%s", path,
							    entries[i]->d_name) < (int)sizeof(name))
			read_file(corpus, name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void free_corpus(struct corpus *corpus)
{
	for (size_t i = 0; i < corpus->count; i++)
		free(corpus->inputs[i].bytes);
	free(corpus->inputs);
}

static int save_input(const struct stage *stage, const struct options *options)
{
	char path[PATH_BYTES_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%scrash-seed-%" PRIu64 "-run-%" PRIu64,
		options->artifact_prefix, options->seed, stage->executions);
	file = fopen(path, "wb");
	if (!file || fwrite(stage->bytes, 1, stage->size, file) != stage->size ||
		fclose(file) != 0) {
		fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
		return 1;
	}
	fprintf(stderr, "fuzz: Test unit written to %s\n", path);
	return 1;
}

static int run(struct stage *stage, const struct corpus *corpus, const struct options *options)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		fuzz(stage, corpus, options);
		return 0;
	}
	FUZZ_CHECK(child > 0 && waitpid(child, &status, 0) == child);
	fprintf(stderr, "Done %" PRIu64 " runs\n", stage->executions);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : save_input(stage, options);
}

/* Parses an option; ignores those that only libFuzzer knows. */
static void parse_option(struct options *options, const char *text)
{
	const char *equals = strchr(text, '=');
	const char *value = equals ? equals + 1 : "";

	if (strncmp(text, "-seed=", 6) == 0)
		options->seed = strtoull(value, NULL, 10);
	else if (strncmp(text, "-runs=", 6) == 0)
		options->runs_max = strtoull(value, NULL, 10);
	else if (strncmp(text, "-max_total_time=", 16) == 0)
		options->seconds = strtoull(value, NULL, 10);
	else if (strncmp(text, "-artifact_prefix=", 17) == 0)
		options->artifact_prefix = value;
}

int main(int argc, char *argv[])
{
	struct options options = {.seed = 1, .artifact_prefix = "./"};
	struct corpus corpus = {0};
	struct stage *stage = mmap(
		NULL, sizeof(*stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	FUZZ_CHECK(stage != MAP_FAILED);
	add_input(&corpus, (const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			parse_option(&options, argv[i]);
		else
			read_corpus(&corpus, argv[i]);
	}
	status = run(stage, &corpus, &options);
	free_corpus(&corpus);
	munmap(stage, sizeof(*stage));
	return status;
}
