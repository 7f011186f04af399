/* text_format.c -- printf's conversions, for signal handlers */
#include "base/text_format.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define NUMBER_BYTES 64
#define MOST_DECIMALS 17

/* One conversion, as it stands behind its %. */
struct conversion {
    bool is_left, has_plus, has_blank, has_zeros, is_alternate;
    int width, precision; /* -1: none */
    char length;          /* h, l, z, j, t; H for hh, L for ll; 0: int */
    char letter;
};

static void put_repeated(struct col_text_sink *sink, char character, int count)
{
    for (; count > 0; count--)
        sink->put(sink, &character, 1);
}

/* `sign` goes before the zeros that fill the width, blanks before it. */
static void put_padded(struct col_text_sink *sink, const struct conversion *how, const char *sign, const char *text,
                       size_t bytes, bool is_number)
{
    int room = how->width - (int)(bytes + strlen(sign));
    bool has_zeros = is_number && how->has_zeros && !how->is_left;
    if (!how->is_left && !has_zeros)
        put_repeated(sink, ' ', room);
    sink->put(sink, sign, strlen(sign));
    if (has_zeros)
        put_repeated(sink, '0', room);
    sink->put(sink, text, bytes);
    if (how->is_left)
        put_repeated(sink, ' ', room);
}

static char *put_digits(char *end, uint64_t number, unsigned base, int least, bool is_upper)
{
    const char *digits = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
    for (; number != 0 || least > 0; number /= base, least--)
        *--end = digits[number % base];
    return end;
}

static const char *sign_of(const struct conversion *how, bool is_negative)
{
    return is_negative ? "-" : how->has_plus ? "+" : how->has_blank ? " " : "";
}

static void put_whole(struct col_text_sink *sink, struct conversion *how, uint64_t number, const char *sign)
{
    char text[NUMBER_BYTES], *end = text + sizeof text;
    unsigned base = how->letter == 'x' || how->letter == 'X' || how->letter == 'p' ? 16 : how->letter == 'o' ? 8 : 10;
    int least = how->precision < 0 ? 1 : how->precision < NUMBER_BYTES ? how->precision : NUMBER_BYTES;
    if (how->precision >= 0)
        how->has_zeros = false;
    char *start = put_digits(end, number, base, least, how->letter == 'X');
    put_padded(sink, how, sign, start, (size_t)(end - start), true);
}

/* ---- reals ---- */

static double power_of_ten(int exponent)
{
    double power = 1;
    for (; exponent > 0; exponent--)
        power *= 10;
    return power;
}

/* `value` is at least 0 and less than 2^63; decimals at most MOST_DECIMALS. */
static char *put_fixed(char *end, double value, int decimals, bool has_point)
{
    uint64_t whole = (uint64_t)value;
    double scale = power_of_ten(decimals);
    uint64_t fraction = (uint64_t)((value - (double)whole) * scale + 0.5);
    if ((double)fraction >= scale) {
        fraction = 0;
        whole++;
    }
    if (decimals > 0)
        end = put_digits(end, fraction, 10, decimals, false);
    if (decimals > 0 || has_point)
        *--end = '.';
    return put_digits(end, whole, 10, 1, false);
}

/* The value between 1 and 10 (or 0), and the power of ten that was taken out of it. */
static double normalise(double value, int *exponent)
{
    *exponent = 0;
    for (; value >= 10; value /= 10)
        ++*exponent;
    for (; value != 0 && value < 1; value *= 10)
        --*exponent;
    return value;
}

static char *put_exponent(char *end, int exponent, bool is_upper)
{
    end = put_digits(end, (uint64_t)(exponent < 0 ? -exponent : exponent), 10, 2, false);
    *--end = exponent < 0 ? '-' : '+';
    *--end = is_upper ? 'E' : 'e';
    return end;
}

/* %g leaves out zeros at the end, and then the point. */
static int without_zeros(double value, int decimals)
{
    for (; decimals > 0; decimals--) {
        uint64_t digits = (uint64_t)(value * power_of_ten(decimals) + 0.5);
        if (digits % 10 != 0)
            break;
    }
    return decimals;
}

static void put_real(struct col_text_sink *sink, struct conversion *how, double value)
{
    char text[NUMBER_BYTES], *end = text + sizeof text, *start;
    bool is_negative = __builtin_signbit(value) != 0, is_upper = how->letter < 'a';
    const char *sign = sign_of(how, is_negative);
    if (__builtin_isnan(value) || __builtin_isinf(value)) {
        const char *word = __builtin_isnan(value) ? (is_upper ? "NAN" : "nan") : is_upper ? "INF" : "inf";
        put_padded(sink, how, sign, word, 3, false);
        return;
    }
    value = is_negative ? -value : value;
    int exponent, decimals = how->precision < 0 ? 6 : how->precision;
    double mantissa = normalise(value, &exponent);
    char letter = (char)(how->letter | 0x20);
    decimals = decimals < MOST_DECIMALS ? decimals : MOST_DECIMALS;
    if (letter == 'g') {
        decimals = (decimals > 0 ? decimals : 1) - 1;
        letter = exponent < -4 || exponent > decimals ? 'e' : 'f';
        if (letter == 'f' && (decimals -= exponent) > MOST_DECIMALS)
            decimals = MOST_DECIMALS;
        if (!how->is_alternate)
            decimals = without_zeros(letter == 'e' ? mantissa : value, decimals);
    }
    if (letter == 'e' || value >= 9e18) {
        if (mantissa + 0.5 / power_of_ten(decimals) >= 10) {
            mantissa = 1;
            exponent++;
        }
        start = put_fixed(put_exponent(end, exponent, is_upper), mantissa, decimals, how->is_alternate);
    } else
        start = put_fixed(end, value, decimals, how->is_alternate);
    put_padded(sink, how, sign, start, (size_t)(end - start), true);
}

/* ---- the format ---- */

static const char *read_number(const char *at, int *number)
{
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        if (*number < 10000)
            *number = *number * 10 + (*at - '0');
    return at;
}

static const char *read_flags(const char *at, struct conversion *how)
{
    for (;; at++)
        switch (*at) {
        case '-':
            how->is_left = true;
            break;
        case '+':
            how->has_plus = true;
            break;
        case ' ':
            how->has_blank = true;
            break;
        case '0':
            how->has_zeros = true;
            break;
        case '#':
            how->is_alternate = true;
            break;
        default:
            return at;
        }
}

static const char *read_length(const char *at, struct conversion *how)
{
    if (*at == 'h' || *at == 'l') {
        how->length = *at++;
        if (*at == how->length) {
            how->length = (char)(how->length - 0x20);
            at++;
        }
    } else if (*at == 'z' || *at == 'j' || *at == 't')
        how->length = *at++;
    return at;
}

/* A va_list inside a structure can be handed on by address on every machine. */
struct arguments {
    va_list list;
};

static int64_t take_signed(struct arguments *arguments, char length)
{
    switch (length) {
    case 'H':
        return (signed char)va_arg(arguments->list, int);
    case 'h':
        return (short)va_arg(arguments->list, int);
    case 0:
        return va_arg(arguments->list, int);
    case 'L':
        return va_arg(arguments->list, long long);
    default:
        return va_arg(arguments->list, long); /* z, j and t are as wide on the machines we know */
    }
}

static uint64_t take_unsigned(struct arguments *arguments, char length)
{
    switch (length) {
    case 'H':
        return (unsigned char)va_arg(arguments->list, int);
    case 'h':
        return (unsigned short)va_arg(arguments->list, int);
    case 0:
        return va_arg(arguments->list, unsigned);
    case 'L':
        return va_arg(arguments->list, unsigned long long);
    default:
        return va_arg(arguments->list, unsigned long);
    }
}

static void put_string(struct col_text_sink *sink, const struct conversion *how, const char *text)
{
    text = text != NULL ? text : "(null)";
    size_t bytes = how->precision < 0 ? strlen(text) : strnlen(text, (size_t)how->precision);
    put_padded(sink, how, "", text, bytes, false);
}

/* False if the letter is none of ours: nobody knows what it would take of the arguments. */
static bool put_conversion(struct col_text_sink *sink, struct conversion *how, struct arguments *arguments)
{
    int64_t number;
    char character;
    switch (how->letter) {
    case 'd':
    case 'i':
        number = take_signed(arguments, how->length);
        put_whole(sink, how, number < 0 ? -(uint64_t)number : (uint64_t)number, sign_of(how, number < 0));
        return true;
    case 'u':
        put_whole(sink, how, take_unsigned(arguments, how->length), "");
        return true;
    case 'x':
    case 'X':
    case 'o':
        put_whole(sink, how, take_unsigned(arguments, how->length),
                  !how->is_alternate   ? ""
                  : how->letter == 'o' ? "0"
                  : how->letter == 'x' ? "0x"
                                       : "0X");
        return true;
    case 'p':
        put_whole(sink, how, (uintptr_t)va_arg(arguments->list, void *), "0x");
        return true;
    case 'c':
        character = (char)va_arg(arguments->list, int);
        put_padded(sink, how, "", &character, 1, false);
        return true;
    case 's':
        put_string(sink, how, va_arg(arguments->list, const char *));
        return true;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
        put_real(sink, how, va_arg(arguments->list, double));
        return true;
    case '%':
        sink->put(sink, "%", 1);
        return true;
    default:
        return false;
    }
}

static const char *read_conversion(const char *at, struct conversion *how, struct arguments *arguments)
{
    *how = (struct conversion){.precision = -1};
    at = read_flags(at, how);
    if (*at == '*') {
        how->width = va_arg(arguments->list, int);
        at++;
    } else
        at = read_number(at, &how->width);
    if (how->width < 0) {
        how->is_left = true;
        how->width = how->width < -10000 ? 10000 : -how->width;
    }
    if (*at == '.' && at[1] == '*') {
        how->precision = va_arg(arguments->list, int);
        at += 2;
    } else if (*at == '.')
        at = read_number(at + 1, &how->precision);
    at = read_length(at, how);
    how->letter = *at;
    return at;
}

void col_text_format(struct col_text_sink *sink, const char *format, va_list list)
{
    struct arguments arguments;
    va_copy(arguments.list, list);
    while (*format != '\0') {
        size_t plain = 0;
        while (format[plain] != '\0' && format[plain] != '%')
            plain++;
        if (plain > 0)
            sink->put(sink, format, plain);
        format += plain;
        if (*format == '\0')
            break;
        struct conversion how;
        const char *end = read_conversion(format + 1, &how, &arguments);
        size_t bytes = (size_t)(end - format) + (*end != '\0');
        if (how.letter == 'm') /* it takes none */
            sink->put(sink, format, bytes);
        else if (!put_conversion(sink, &how, &arguments)) {
            sink->put(sink, format, strlen(format));
            break;
        }
        format += bytes;
    }
    va_end(arguments.list);
}

struct memory_sink {
    struct col_text_sink sink;
    char *at, *last; /* `last` is where the zero goes at the latest */
};

static void put_in_memory(struct col_text_sink *sink, const char *text, size_t bytes)
{
    struct memory_sink *memory = (struct memory_sink *)(void *)sink;
    size_t room = (size_t)(memory->last - memory->at);
    bytes = bytes < room ? bytes : room;
    memcpy(memory->at, text, bytes);
    memory->at += bytes;
}

void col_text_format_into(char *text, size_t size, const char *format, va_list arguments)
{
    struct memory_sink memory = {{put_in_memory}, text, text + size - 1};
    col_text_format(&memory.sink, format, arguments);
    *memory.at = '\0';
}

void col_text_print_into(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    col_text_format_into(text, size, format, arguments);
    va_end(arguments);
}
