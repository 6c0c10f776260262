/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/noise.h"
#include "shared/number.h"
#include "shared/units.h"

#define HOLD_US_MAX UINT64_C(86400000000) /* a day */
#define IN "in:"
#define PROBABILITY "p="

enum hold {
	HOLD_NONE,
	HOLD_OPTIONAL, /* without it, the fault holds for ever */
	HOLD_NEEDED,
};

struct kind {
	const char *name;
	enum fault_at at;
	enum hold hold;
};

static const struct kind kinds[] = {
	[FAULT_DROP] = {"drop", FAULT_AT_REPLY_BYTE, HOLD_NONE},
	[FAULT_CORRUPT] = {"corrupt", FAULT_AT_REPLY_BYTE, HOLD_NONE},
	[FAULT_DUPLICATE] = {"duplicate", FAULT_AT_REPLY_BYTE, HOLD_NONE},
	[FAULT_DELAY] = {"delay", FAULT_AT_REQUEST, HOLD_NEEDED},
	[FAULT_STALL] = {"stall", FAULT_AT_REQUEST, HOLD_OPTIONAL},
	[FAULT_HANG_UP] = {"hang-up", FAULT_AT_REQUEST, HOLD_NONE},
	[FAULT_NAK] = {"nak", FAULT_AT_REQUEST, HOLD_NONE},
	[FAULT_STUCK_WIP] = {"stuck-wip", FAULT_AT_BUSY, HOLD_NONE},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

void faults_init(struct faults *faults, uint64_t seed)
{
	*faults = (struct faults){.seed = seed};
}

static bool find_kind(const char *name, size_t len, enum fault_kind *kind)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (strlen(kinds[i].name) == len && strncmp(name, kinds[i].name, len) == 0) {
			*kind = (enum fault_kind)i;
			return true;
		}
	}
	return false;
}

static int parse_probability(const char *text, double *probability)
{
	char *stop;
	double value;

	/* strtod() would also accept signs, exponents, "inf"... */
	if (*text == '\0' || strspn(text, "0123456789.") != strlen(text))
		return -EINVAL;
	value = strtod(text, &stop);
	if (*stop || !(value > 0) || value > 1)
		return -EINVAL;
	*probability = value;
	return 0;
}

static int parse_when(const char *text, struct fault *fault)
{
	if (strncmp(text, IN, strlen(IN)) == 0) {
		if (fault->at != FAULT_AT_REPLY_BYTE)
			return -EINVAL;
		fault->at = FAULT_AT_REQUEST_BYTE;
		text += strlen(IN);
	}
	if (strncmp(text, PROBABILITY, strlen(PROBABILITY)) == 0)
		return fault->at == FAULT_AT_BUSY
			       ? -EINVAL
			       : parse_probability(text + strlen(PROBABILITY), &fault->probability);
	return number_parse(text, 10, 1, UINT64_MAX, &fault->nth) ? 0 : -EINVAL;
}

/* Parses the text between the name and the @: nothing, or `:US`. */
static int parse_hold(const char *text, const char *end, enum hold hold, struct fault *fault)
{
	const char *stop;
	uint64_t hold_us;

	if (text == end) {
		fault->hold_ns = hold == HOLD_OPTIONAL ? FAULT_FOR_EVER : 0;
		return hold == HOLD_NEEDED ? -EINVAL : 0;
	}
	if (hold == HOLD_NONE || !number_begins(text + 1, 10, HOLD_US_MAX, &stop, &hold_us) ||
		stop != end)
		return -EINVAL;
	fault->hold_ns = hold_us * NS_PER_US;
	return 0;
}

static int parse(const char *text, struct fault *fault)
{
	const char *when = strchr(text, '@');
	size_t len = strcspn(text, ":@");

	*fault = (struct fault){.nth = 0};
	if (!when || strlen(text) >= FAULT_TEXT_BYTES_MAX || !find_kind(text, len, &fault->kind))
		return -EINVAL;
	fault->at = kinds[fault->kind].at;
	if (parse_hold(text + len, when, kinds[fault->kind].hold, fault) < 0)
		return -EINVAL;
	return parse_when(when + 1, fault);
}

int faults_add(struct faults *faults, const char *text)
{
	struct fault fault;

	if (parse(text, &fault) < 0)
		return -EINVAL;
	if (faults->count == FAULTS_MAX)
		return -ENOSPC;
	if (faults->count > 0)
		strcat(faults->text, " ");
	strcat(faults->text, text);
	faults->fault[faults->count++] = fault;
	return 0;
}

bool faults_touch(const struct faults *faults, enum fault_at at)
{
	for (size_t i = 0; i < faults->count; i++) {
		if (faults->fault[i].at == at)
			return true;
	}
	return false;
}

bool faults_hold(const struct faults *faults)
{
	for (size_t i = 0; i < faults->count; i++) {
		if (faults->fault[i].hold_ns > 0)
			return true;
	}
	return false;
}

void faults_count(struct faults *faults, enum fault_at at)
{
	faults->seen[at]++;
}

/* Returns a random number for the @nth byte or request and the fault at @index. */
static uint64_t draw(const struct faults *faults, size_t index, uint64_t nth)
{
	uint64_t place = noise_mix(faults->seed + NOISE_GOLDEN) + (index + 1) * NOISE_GOLDEN;

	return noise_mix(noise_mix(place) + nth * NOISE_GOLDEN);
}

static bool hits(const struct faults *faults, size_t index, uint64_t nth)
{
	const struct fault *fault = &faults->fault[index];

	if (fault->nth > 0)
		return fault->nth == nth;
	/* Scales the draw to [0, 1): a double holds 53 bits exactly. */
	return (double)(draw(faults, index, nth) >> 11) * 0x1p-53 < fault->probability;
}

const struct fault *faults_hit(const struct faults *faults, enum fault_kind kind, enum fault_at at)
{
	for (size_t i = 0; i < faults->count; i++) {
		const struct fault *fault = &faults->fault[i];

		if (fault->kind == kind && fault->at == at && hits(faults, i, faults->seen[at]))
			return fault;
	}
	return NULL;
}

uint64_t faults_stuck_from(const struct faults *faults)
{
	uint64_t from = 0;

	for (size_t i = 0; i < faults->count; i++) {
		const struct fault *fault = &faults->fault[i];

		if (fault->kind == FAULT_STUCK_WIP && (from == 0 || fault->nth < from))
			from = fault->nth;
	}
	return from;
}

/* Returns a byte that differs from @byte. */
static uint8_t corrupted(
	const struct faults *faults, const struct fault *fault, uint64_t nth, uint8_t byte)
{
	uint64_t drawn = draw(faults, (size_t)(fault - faults->fault) + FAULTS_MAX, nth);

	return byte ^ (uint8_t)(1 + drawn % 255);
}

/* Writes 0 to 2 bytes to @out, and returns how many. A lost byte has no other fault. */
static size_t pass_byte(struct faults *faults, enum fault_at at, uint8_t byte, uint8_t *out,
	fault_report_fn report, void *context)
{
	uint64_t nth = faults->seen[at];
	const struct fault *fault = faults_hit(faults, FAULT_DROP, at);

	if (fault) {
		report(context, fault, nth);
		return 0;
	}
	fault = faults_hit(faults, FAULT_CORRUPT, at);
	if (fault) {
		report(context, fault, nth);
		byte = corrupted(faults, fault, nth, byte);
	}
	out[0] = byte;
	fault = faults_hit(faults, FAULT_DUPLICATE, at);
	if (!fault)
		return 1;
	report(context, fault, nth);
	out[1] = byte;
	return 2;
}

size_t faults_pass(struct faults *faults, enum fault_at at, const uint8_t *in, size_t len,
	uint8_t *out, fault_report_fn report, void *context)
{
	size_t passed = 0;

	for (size_t i = 0; i < len; i++) {
		faults_count(faults, at);
		passed += pass_byte(faults, at, in[i], out + passed, report, context);
	}
	return passed;
}

const char *fault_kind_name(enum fault_kind kind)
{
	return kinds[kind].name;
}

const char *fault_at_name(enum fault_at at)
{
	static const char *const names[] = {
		[FAULT_AT_REPLY_BYTE] = "reply-byte",
		[FAULT_AT_REQUEST_BYTE] = "request-byte",
		[FAULT_AT_REQUEST] = "request",
		[FAULT_AT_BUSY] = "busy",
	};

	return names[at];
}
