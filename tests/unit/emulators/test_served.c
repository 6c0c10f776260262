/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dialogues (dialogue.h) with serprog-emu as it ships, over a real socket: served/SUBJECT.txt. The
 * first argument is the path of serprog-emu.
 *
 *     server OPTION...        a new server, for W25Q128JV unless another part is given, and its
 *                             client; IMAGE is a file that `image` reads
 *     BYTE... rN              the client sends these bytes, and gets N
 *     spi BYTE... rN          the client makes a transfer; prints the answer without its ACK
 *     poll                    the client reads the status until the part is ready
 *     connect                 the client disconnects, and connects again
 *     end                     the client disconnects; prints the server's exit code
 *     count TEXT              prints how often the events of the ended server have that text
 *     image N                 prints the first N bytes of IMAGE
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialogue.h"
#include "served.h"

#define REPLY_BYTES_MAX (1 + 0x10000)

struct session {
	struct dialogue dialogue;
	char **argv;
	struct served served;
	bool is_there; /* false before the first server */
	char *events;  /* NULL until a server ended */
};

/* Ends the previous server, and removes its files. */
static void forget(struct session *session)
{
	if (session->is_there)
		served_tear_down(&session->served);
	session->is_there = false;
	free(session->events);
	session->events = NULL;
}

static bool run_server(struct session *session)
{
	const char *extra[SERVED_ARGS_MAX] = {NULL};
	size_t count = 0;

	forget(session);
	served_set_up(&session->served, session->argv);
	session->is_there = true;
	for (char *word = next_word(); word; word = next_word())
		extra[count++] = strcmp(word, "IMAGE") == 0 ? session->served.image : word;
	served_start(&session->served, extra);
	return true;
}

static bool run_spi(struct session *session)
{
	struct transfer transfer;
	uint8_t reply[256];

	if (!take_transfer(&transfer) || transfer.len > UINT8_MAX || transfer.reply_len > UINT8_MAX)
		return false;
	served_spi(&session->served, transfer.bytes, (uint8_t)transfer.len, reply,
		(uint8_t)transfer.reply_len);
	put_bytes(&session->dialogue, reply, transfer.reply_len);
	return true;
}

static bool run_poll(struct session *session)
{
	served_wait_until_ready(&session->served);
	return true;
}

static bool run_connect(struct session *session)
{
	served_disconnect(&session->served);
	served_connect(&session->served);
	return true;
}

static bool run_end(struct session *session)
{
	served_disconnect(&session->served);
	put(&session->dialogue, "%d", served_wait_for_exit(&session->served));
	session->events = file_text(session->served.events);
	return true;
}

static bool run_count(struct session *session)
{
	char *text = strtok(NULL, "");

	if (!text || !session->events)
		return false;
	put(&session->dialogue, "%zu", count_of(session->events, text));
	return true;
}

static bool run_image(struct session *session)
{
	uint64_t len;
	char *image;

	if (!take_number(&len))
		return false;
	image = file_text(session->served.image);
	put_bytes(&session->dialogue, (const uint8_t *)image, len);
	free(image);
	return true;
}

static const struct {
	const char *name;
	bool (*run)(struct session *session);
} verbs[] = {
	{"server", run_server},
	{"spi", run_spi},
	{"poll", run_poll},
	{"connect", run_connect},
	{"end", run_end},
	{"count", run_count},
	{"image", run_image},
};

static bool run_request(struct session *session, const char *first)
{
	struct transfer transfer;
	static uint8_t reply[REPLY_BYTES_MAX];

	if (!transfer_parse(first, &transfer) || transfer.reply_len > sizeof(reply))
		return false;
	served_ask(&session->served, transfer.bytes, transfer.len, reply, transfer.reply_len);
	put_bytes(&session->dialogue, reply, transfer.reply_len);
	return true;
}

static bool run_line(void *context, const char *first)
{
	struct session *session = context;

	for (size_t i = 0; i < COUNT(verbs); i++) {
		if (strcmp(first, verbs[i].name) == 0)
			return (session->is_there || i == 0) && verbs[i].run(session);
	}
	return session->is_there && run_request(session, first);
}

int main(int argc, char *argv[])
{
	struct session session = {.argv = argv};
	int ret = dialogue_main(argc - 1, argv + 1, &session.dialogue, run_line, &session);

	forget(&session);
	return ret;
}
