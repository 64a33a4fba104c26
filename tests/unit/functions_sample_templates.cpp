// The part of the sample that has names to be demangled.
#include "culprit/interval.h"
#include "functions_sample.h"

#define APART __attribute__((noinline, noclone, used))

extern "C" volatile int sample_sink;

namespace shop
{
template <typename T> class Basket
{
      public:
	APART void put(T thing)
	{
		sample_sink += (int)thing;
	}
	APART int operator()(T thing) const
	{
		return (int)thing + sample_sink;
	}
};

APART int price(int n)
{
	return n * sample_sink;
}

APART int price(double n)
{
	return (int)n * sample_sink;
}

namespace
{
template <typename T> APART T twice(T n)
{
	return n + (T)sample_sink;
}
} // namespace
} // namespace shop

int sample_templates(int n)
{
	shop::Basket<int> a;
	shop::Basket<char> b;

	CULPRIT_INTERVAL_BEGIN(n);
	a.put(n);
	CULPRIT_INTERVAL_END(&a);
	b.put((char)n);
	return a(n) + b((char)n) + shop::price(n) + shop::price(n * 0.5) + shop::twice(n) +
	       (int)shop::twice(0.5 * n);
}
