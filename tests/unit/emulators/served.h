/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-emu as it ships, in a separate process, with a client at its socket. A call that fails
 * here fails the test. Only tests include this.
 */
#ifndef TESTS_UNIT_EMULATORS_SERVED_H
#define TESTS_UNIT_EMULATORS_SERVED_H

#include <sys/types.h>

#include "../temporary_folder.h"

/* The largest number of arguments, with the NULL at their end. */
#define SERVED_ARGS_MAX 24

struct served {
	const char *program;
	struct folder folder;
	char events[FOLDER_FILE_BYTES]; /* a path in @folder, like the next one */
	char image[FOLDER_FILE_BYTES];
	pid_t pid; /* 0 while it does not run */
	uint16_t port;
	int fd; /* the client's socket, -1 for none */
};

/* Makes a folder for a server: argv[1] is the path of serprog-emu. Ends the test if there is none.
 */
void served_set_up(struct served *served, char *argv[]);

/* Kills a server that still runs, and removes its files. */
void served_tear_down(struct served *served);

/* Starts the server with @extra, which ends with NULL; returns once a client is connected. */
void served_start(struct served *served, const char *const *extra);

/*
 * Starts the server with --standby. Once it waits, sends it the other arguments, each ended by NUL.
 */
void served_start_from_standby(struct served *served, const char *rest, size_t rest_len);

/* Waits until the server exits. Returns its exit code. */
int served_wait_for_exit(struct served *served);

void served_connect(struct served *served);
void served_disconnect(struct served *served);

/* Disconnects the client; checks that the server ends without an error. */
void served_end(struct served *served);

/* Sends the request, then waits for the whole reply. */
void served_ask(struct served *served, const void *request, size_t request_len, void *reply,
	size_t reply_len);

/* Makes a SPI transfer of fewer than 256 bytes each way; the reply excludes its ACK. */
void served_spi(struct served *served, const uint8_t *command, uint8_t command_len, uint8_t *reply,
	uint8_t reply_len);

/* Waits until the part is not busy. */
void served_wait_until_ready(struct served *served);

/* Returns the text of a file of at least 1 byte and less than 1 MiB; the caller frees it. */
char *file_text(const char *path);

/* Returns how often @text contains @needle. */
size_t count_of(const char *text, const char *needle);

#endif
