// SPDX-License-Identifier: MIT
/*
 * top_terminal.c - a screen by ncurses; see top_terminal.h.
 *
 * Signals come through a descriptor, so that nothing of ncurses runs in a handler: neither its own
 * for SIGTSTP and SIGWINCH, which never see these blocked signals, nor ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define NCURSES_NOMACROS /* `move`, `clear`, `erase` are names of functions and nothing else */
#include <curses.h>

#include "base/log.h"
#include "ui/top_terminal.h"
#include "ui/top_view.h"

#define ESCAPE_MS  100 /* after these an escape was the key, and not the begin of another */
#define SAID_BYTES 512

enum colour_pair { PAIR_NONE, PAIR_TITLE, PAIR_NATIVE, PAIR_KERNEL, PAIR_WARNING };

struct sdw_top_terminal {
	FILE *in, *out; /* the terminal, by descriptors of our own */
	SCREEN *screen;
	int epoll, signals;
	sigset_t taken, old_mask;
	bool masked, colour, ascii;
	size_t width, height;
	int said, old_stderr; /* what was said meanwhile; < 0: stderr is no terminal */
	off_t told;	      /* bytes of it that sdw_top_terminal_said() gave */
	char line[SAID_BYTES];
};

/* ---- opening and closing ---- */

/* A stream on a descriptor of our own, which no command inherits. */
static FILE *open_stream(int fd, const char *mode)
{
	int own = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3)
			  : open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	FILE *stream = own >= 0 ? fdopen(own, mode) : NULL;

	if (!stream && own >= 0)
		close(own);
	return stream;
}

static int watch(const struct sdw_top_terminal *terminal, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(terminal->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_signals(struct sdw_top_terminal *terminal)
{
	sigemptyset(&terminal->taken);
	sigaddset(&terminal->taken, SIGWINCH);
	sigaddset(&terminal->taken, SIGTSTP);
	sigaddset(&terminal->taken, SIGCONT);
	sigaddset(&terminal->taken, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &terminal->taken, &terminal->old_mask))
		return -errno;
	terminal->masked = true;
	terminal->signals = signalfd(-1, &terminal->taken, SFD_CLOEXEC | SFD_NONBLOCK);
	terminal->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (terminal->signals < 0 || terminal->epoll < 0)
		return -errno;
	return watch(terminal, terminal->signals) ?: watch(terminal, fileno(terminal->in));
}

int sdw_top_terminal_take_stops(struct sdw_top_terminal *terminal)
{
	sigaddset(&terminal->taken, SIGINT);
	sigaddset(&terminal->taken, SIGTERM);
	sigaddset(&terminal->taken, SIGHUP);
	return signalfd(terminal->signals, &terminal->taken, 0) < 0 ? -errno : 0;
}

/* What is written to the terminal beside ncurses would stand in the middle of the screen. */
static void keep_stderr(struct sdw_top_terminal *terminal)
{
	terminal->said = terminal->old_stderr = -1;
	if (!isatty(STDERR_FILENO))
		return;
	terminal->old_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	terminal->said = memfd_create("said", MFD_CLOEXEC);
	if (terminal->old_stderr < 0 || terminal->said < 0)
		return;
	fcntl(terminal->said, F_SETFL, O_APPEND);
	dup2(terminal->said, STDERR_FILENO);
}

static void release_stderr(struct sdw_top_terminal *terminal)
{
	char buffer[4096];
	ssize_t bytes;

	if (terminal->old_stderr >= 0) {
		dup2(terminal->old_stderr, STDERR_FILENO);
		close(terminal->old_stderr);
	}
	if (terminal->said < 0)
		return;
	lseek(terminal->said, 0, SEEK_SET);
	while ((bytes = read(terminal->said, buffer, sizeof(buffer))) > 0) {
		if (write(STDERR_FILENO, buffer, (size_t)bytes) < 0)
			break; /* nobody left to tell */
	}
	close(terminal->said);
}

static void open_colours(struct sdw_top_terminal *terminal)
{
	const char *no_colour = getenv("NO_COLOR");

	if ((no_colour && *no_colour) || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	init_pair(PAIR_TITLE, COLOR_CYAN, -1);
	init_pair(PAIR_NATIVE, COLOR_YELLOW, -1);
	init_pair(PAIR_KERNEL, COLOR_MAGENTA, -1);
	init_pair(PAIR_WARNING, COLOR_RED, -1);
	terminal->colour = true;
}

static void read_size(struct sdw_top_terminal *terminal)
{
	struct winsize size;

	if (ioctl(fileno(terminal->out), TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	terminal->width = (size_t)getmaxx(stdscr);
	terminal->height = (size_t)getmaxy(stdscr);
}

/* ncurses goes by the locale; where that is not UTF-8, characters are still counted right. */
static void choose_characters(struct sdw_top_terminal *terminal)
{
	setlocale(LC_CTYPE, "");
	terminal->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	if (terminal->ascii)
		setlocale(LC_CTYPE, "C.UTF-8");
}

int sdw_top_terminal_open(struct sdw_top_terminal **terminal)
{
	struct sdw_top_terminal *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->epoll = new->signals = new->said = new->old_stderr = -1;
	choose_characters(new);
	new->out = open_stream(STDOUT_FILENO, "w");
	new->in = open_stream(isatty(STDIN_FILENO) ? STDIN_FILENO : -1, "r");
	if (!new->out || !new->in) {
		err = -errno;
		goto fail;
	}
	err = open_signals(new);
	if (err)
		goto fail;
	set_escdelay(ESCAPE_MS);
	new->screen = newterm(NULL, new->out, new->in);
	if (!new->screen) {
		err = -ENOTTY;
		goto fail;
	}
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	open_colours(new);
	/* ncurses 6.4 flushes at every move of the cursor until it was suspended once */
	endwin();
	refresh();
	read_size(new);
	keep_stderr(new);
	*terminal = new;
	return 0;
fail:
	sdw_error("top: cannot use the terminal: %s", strerror(-err));
	sdw_top_terminal_close(new);
	return err;
}

void sdw_top_terminal_close(struct sdw_top_terminal *terminal)
{
	if (!terminal)
		return;
	if (terminal->screen) {
		endwin();
		delscreen(terminal->screen);
	}
	release_stderr(terminal);
	if (terminal->signals >= 0)
		close(terminal->signals);
	if (terminal->epoll >= 0)
		close(terminal->epoll);
	if (terminal->in)
		fclose(terminal->in);
	if (terminal->out)
		fclose(terminal->out);
	if (terminal->masked)
		sigprocmask(SIG_SETMASK, &terminal->old_mask, NULL);
	free(terminal);
}

/* ---- events ---- */

int sdw_top_terminal_fd(const struct sdw_top_terminal *terminal)
{
	return terminal->epoll;
}

void sdw_top_terminal_size(const struct sdw_top_terminal *terminal, size_t *width, size_t *height)
{
	*width = terminal->width;
	*height = terminal->height;
}

bool sdw_top_terminal_is_ascii(const struct sdw_top_terminal *terminal)
{
	return terminal->ascii;
}

/* Ctrl-Z: the shell gets its terminal back until somebody lets us go on. */
static void stop_here(void)
{
	endwin();
	kill(getpid(), SIGSTOP);
	/* going on: the SIGCONT that made us comes as an event too */
}

static enum sdw_top_event take_signal(struct sdw_top_terminal *terminal)
{
	struct signalfd_siginfo info;

	if (read(terminal->signals, &info, sizeof(info)) != sizeof(info))
		return SDW_TOP_NO_EVENT;
	switch (info.ssi_signo) {
	case SIGWINCH:
		read_size(terminal);
		return SDW_TOP_REDRAW;
	case SIGTSTP:
		stop_here();
		/* fall through */
	case SIGCONT: /* a shell may have changed the modes, and has written on the screen */
		reset_prog_mode();
		read_size(terminal);
		clearok(stdscr, TRUE);
		return SDW_TOP_REDRAW;
	default:
		return SDW_TOP_STOP;
	}
}

static uint32_t key_of(wint_t code)
{
	static const struct {
		wint_t code;
		enum sdw_top_key key;
	} keys[] = {
		{KEY_UP, SDW_TOP_KEY_UP},	  {KEY_DOWN, SDW_TOP_KEY_DOWN},
		{KEY_PPAGE, SDW_TOP_KEY_PAGE_UP}, {KEY_NPAGE, SDW_TOP_KEY_PAGE_DOWN},
		{KEY_HOME, SDW_TOP_KEY_HOME},	  {KEY_END, SDW_TOP_KEY_END},
		{KEY_ENTER, SDW_TOP_KEY_ENTER},	  {KEY_BACKSPACE, SDW_TOP_KEY_BACK},
		{KEY_LEFT, SDW_TOP_KEY_BACK},	  {KEY_RIGHT, SDW_TOP_KEY_ENTER},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return 0;
}

static uint32_t character_of(wint_t character)
{
	switch (character) {
	case '\r':
	case '\n':
		return SDW_TOP_KEY_ENTER;
	case '\b':
	case 0x7f:
		return SDW_TOP_KEY_BACK;
	case 0x1b:
		return SDW_TOP_KEY_ESCAPE;
	default:
		return character;
	}
}

/* Can be read and has nothing to read: the terminal is gone. */
static bool is_gone(const struct sdw_top_terminal *terminal)
{
	struct pollfd input = {.fd = fileno(terminal->in), .events = POLLIN};
	int bytes = 0;

	if (poll(&input, 1, 0) != 1)
		return false;
	return input.revents & (POLLHUP | POLLERR | POLLNVAL) ||
	       (ioctl(input.fd, FIONREAD, &bytes) == 0 && !bytes);
}

enum sdw_top_event sdw_top_terminal_next(struct sdw_top_terminal *terminal, uint32_t *key)
{
	enum sdw_top_event event = take_signal(terminal);
	wint_t code;

	if (event != SDW_TOP_NO_EVENT)
		return event;
	for (;;) {
		switch (get_wch(&code)) {
		case KEY_CODE_YES:
			*key = key_of(code);
			break;
		case OK:
			*key = character_of(code);
			break;
		default:
			return is_gone(terminal) ? SDW_TOP_STOP : SDW_TOP_NO_EVENT;
		}
		if (*key)
			return SDW_TOP_KEY;
	}
}

const char *sdw_top_terminal_said(struct sdw_top_terminal *terminal)
{
	off_t end = terminal->said >= 0 ? lseek(terminal->said, 0, SEEK_END) : 0, from;
	ssize_t bytes;
	char *line;

	if (end <= terminal->told)
		return NULL;
	from = end - terminal->told < SAID_BYTES ? terminal->told : end - SAID_BYTES + 1;
	bytes = pread(terminal->said, terminal->line, SAID_BYTES - 1, from);
	terminal->told = end;
	while (bytes > 0 && terminal->line[bytes - 1] == '\n')
		bytes--;
	if (bytes <= 0)
		return NULL;
	terminal->line[bytes] = '\0';
	line = strrchr(terminal->line, '\n');
	return line ? line + 1 : terminal->line;
}

/* ---- showing ---- */

static attr_t attributes_of(const struct sdw_top_terminal *terminal, enum sdw_top_style style)
{
	static const struct {
		attr_t attributes;
		enum colour_pair pair;
	} styles[SDW_TOP_STYLES] = {
		[SDW_TOP_PLAIN] = {A_NORMAL, PAIR_NONE},
		[SDW_TOP_DIM] = {A_DIM, PAIR_NONE},
		[SDW_TOP_BOLD] = {A_BOLD, PAIR_NONE},
		[SDW_TOP_TITLE] = {A_BOLD, PAIR_TITLE},
		[SDW_TOP_HEADING] = {A_BOLD, PAIR_NONE},
		[SDW_TOP_SORTED] = {A_REVERSE, PAIR_NONE},
		[SDW_TOP_NATIVE] = {A_NORMAL, PAIR_NATIVE},
		[SDW_TOP_KERNEL] = {A_NORMAL, PAIR_KERNEL},
		[SDW_TOP_WARNING] = {A_BOLD, PAIR_WARNING},
	};
	attr_t attributes = styles[style].attributes;

	return terminal->colour ? attributes | (attr_t)COLOR_PAIR(styles[style].pair) : attributes;
}

static void show_line(const struct sdw_top_terminal *terminal, const struct sdw_top_line *line)
{
	const char *text = line->text;

	for (size_t i = 0; i < line->segment_count; i++) {
		attrset((int)(line->selected ? A_REVERSE
					     : attributes_of(terminal, line->segments[i].style)));
		addnstr(text, (int)line->segments[i].bytes);
		text += line->segments[i].bytes;
	}
	for (size_t column = line->width; line->selected && column < terminal->width; column++)
		addch(' ');
	attrset(A_NORMAL);
}

void sdw_top_terminal_show(struct sdw_top_terminal *terminal, const struct sdw_top_screen *screen)
{
	erase();
	for (size_t i = 0; i < screen->count && i < terminal->height; i++) {
		move((int)i, 0);
		show_line(terminal, &screen->lines[i]);
	}
	refresh();
}
