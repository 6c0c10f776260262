/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-emu as it ships, in a process of its own, and a client at its socket. Only the tests
 * include this. What cannot be done here fails the test.
 */
#ifndef TESTS_UNIT_EMULATORS_SERVED_H
#define TESTS_UNIT_EMULATORS_SERVED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <cmocka.h>

/* Words of a command line, its end among them. */
#define SERVED_ARGS_MAX 24

struct served {
	const char *program;
	char dir[32];
	char events[64]; /* a path in @dir, as the next one */
	char image[64];
	pid_t pid; /* 0: it does not run */
	uint16_t port;
	int fd; /* the client's socket, -1 for none */
};

/* The path of serprog-emu, which is the first argument; where there is none the test ends. */
void *served_program(int argc, char *argv[]);

/* Before and after a test whose first state is that path. Nothing runs, and nothing stays. */
int served_set_up(void **state);
int served_tear_down(void **state);
#define WITH_SERVED(test) {#test, test, served_set_up, served_tear_down, program}

/* Returns once the server listens and a client is connected to it. @extra ends with NULL. */
void served_start(struct served *served, const char *const *extra);

/* Starts it with --standby and tells it the rest, NUL after NUL, once it says that it waits. */
void served_start_from_standby(struct served *served, const char *rest, size_t rest_len);

/* Its exit code. */
int served_wait_for_exit(struct served *served);

void served_connect(struct served *served);
void served_disconnect(struct served *served);

/* The client leaves, and the server must end well. */
void served_end(struct served *served);

/* The same, and what its events are then; to be freed. */
char *served_end_with_events(struct served *served);

/* Sends the one, then waits for all of the other. */
void served_ask(struct served *served, const void *request, size_t request_len, void *reply,
	size_t reply_len);

/* One SPI transfer of fewer than 256 bytes each way; the reply is without its ACK. */
void served_spi(struct served *served, const uint8_t *command, uint8_t command_len, uint8_t *reply,
	uint8_t reply_len);

/* Until the part is not busy. */
void served_wait_until_ready(struct served *served);

/* Returns the text of a file, 1 byte to 1 MiB long; the caller frees it. */
char *file_text(const char *path);

/* Returns how often @text contains @needle. */
size_t count_of(const char *text, const char *needle);

#endif
