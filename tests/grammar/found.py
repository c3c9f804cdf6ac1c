"""Programs that the grammar found and the shrinker made small: each was answered wrongly, crashed or hung once."""

from __future__ import annotations

from tests.grammar.program import Program

FOUND = (
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + d.bernoulli(0.75)
    k2 = d.integers(-1, 1)
    if 0.1 * k1 != k1:
        pass
    return 'a' if k1 != 3 and not x[0] < k2 else 'b'
""",
        ([-0.5], [1.5]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = d.Dist.from_atoms({0.1: 0.25, 1: 0.25, 2: 0.5})
    return x[0] - k1
""",
        ([1], [2]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + 0.1 * d.integers(-2, 4)
    if k1 <= 0.2:
        return 'none' if k1 < 0.2 else 'a'
    if k1 - 0.2 < 0.1:
        return 'a' if k1 - 0.2 < -0.1 else 'b'
    return x[0]
""",
        ([0], [0.1]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = (x[0] - 0.3) + 0.1 * d.categorical([0.1, 0.2, 0.3, 0.4])
    if 0.1 >= k1:
        return 'c' if 0.1 == k1 else 'a'
    return 'b'
""",
        ([0.2], [0.1]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = d.integers(-3, 4)
    k2 = d.categorical([0.7, 0.3] if x[0] > 0 else [0.25, 0.25, 0.5])
    if k1 != k2:
        return 'a' if k2 == k1 else 'c'
    return k1 - 2 - x[0]
""",
        ([0], [1.25]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = 3 * d.bernoulli(0.75)
    k2 = 3 * d.integers(-1, 1)
    if k2 > k1:
        pass
    if k2 != k1:
        return None if k2 != k1 else 'none'
    return x[0]
""",
        ([-3], [-2.25]),
    ),
    Program(
        "one",
        """
def mechanism(x):
    v2 = x[0] + 0.05
    v3 = 0.1 * d.integers(-3, 4)
    if v3 > -0.1 or v3 < -0.1:
        return 'b' if v3 + v2 > 0 else 'a'
    return None
""",
        ([0.1], [0.2]),
    ),
    Program(
        "one",
        """
def mechanism(x):
    v2 = x[0] + 0.1 * d.from_scipy(stats.t(5))
    v3 = 0.1 * d.integers(-3, 1)
    return 'none' if v2 > v3 // 0.1 else None
""",
        ([0.2], [0.325]),
    ),
    Program(
        "one",
        """
def mechanism(x):
    z1 = d.exponential(0.5)
    v2 = x[0] + z1
    v3 = d.categorical([0.1, 0.5, 0.4])
    v4 = d.categorical([0.7, 0.3] if x[0] > 1 else [0.25, 0.25, 0.5])
    if v4 == v3:
        return 'c' if v4 - v3 >= 0 else 'b'
    return 'a' if v2 > v3 else 'b'
""",
        ([1], [2]),
    ),
    Program(
        "loops",
        """
def mechanism(x):
    while d.bernoulli(0.02):
        pass
    return 'a'
""",
        ([1], [2]),
    ),
    Program(
        "loops",
        """
def mechanism(x):
    k1 = 0
    while d.bernoulli(0.6):
        k1 += 1
    return 'b'
""",
        ([0.2], [0.1]),
    ),
    Program(
        "loops",
        """
def mechanism(x):
    k1 = 0
    while d.bernoulli(0.1):
        k1 += 1
    k2 = 0
    while d.bernoulli(0.5):
        k2 += 1
    if x[0] % 9 != k1:
        return 'none'
    return 'a' if k2 <= 0 else 'b'
""",
        ([6], [12]),
    ),
    Program(
        "two",
        """
def mechanism(x):
    v1 = x[0] + d.gaussian(0.25)
    v2 = x[0] + 0.25 * d.from_scipy(stats.t(3))
    v3 = 0.5 * d.integers(0, 4)
    return ('i', d.argmax([v2 - v1, v3, 1]))
""",
        ([0.5], [1.125]),
    ),
    Program(
        "two",
        """
def mechanism(x):
    v1 = x[0] + d.gumbel(0.5)
    v2 = d.from_scipy(stats.cauchy(scale=1))
    v3 = d.bernoulli(0.3)
    if v2 > v1 + v3:
        return None
    if v2 - v1 <= 1 and v1 >= 3:
        return 'b'
    return 'c'
""",
        ([1], [2]),
    ),
    Program(
        "post",
        """
def mechanism(x):
    y0 = x[0] + d.logistic(1)
    y1 = x[1] + d.laplace(2)
    v1 = d.gaussian(3)
    v2 = d.integers(-1, 0)
    if v2 > y1:
        return ('i', d.argmax([y0 + v1, v1, 0]))
    return (v2, v1 - d.clip(y1 + y0, 0, 2))
""",
        ([0, 2], [0, 3]),
    ),
    Program(
        "post",
        """
def mechanism(x):
    y0 = x[0] + d.logistic(2)
    v1 = d.from_scipy(stats.cauchy(scale=1))
    v2 = d.Dist.from_atoms({-1: 0.25, 0.5: 0.25, 2: 0.5})
    if v1 > y0 - 2000000 + v2:
        return 1
    if v2 + v1 < -1:
        return 'a'
    return 0
""",
        ([2000002], [2000004]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + d.categorical([0.4, 0.1, 0.1, 0.4])
    return 'none' if -1 * k1 == 0 else 'b'
""",
        ([-1], [-2]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = (x[0] - 0.5) + 0.1 * d.bernoulli(0.25)
    return ('a', d.clip(k1, 0.1, 0.2))
""",
        ([0.5], [0.6]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + d.Dist.from_atoms({-3: 0.25, 1.5: 0.25, 6: 0.5})
    return (None, math.trunc(k1 / 9))
""",
        ([3], [9]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k2 = (x[0] - 2000000) + 0.5 * d.categorical([0.25, 0.25, 0.5])
    if -1 * k2 < -1.5:
        pass
    return 'none' if -1.5 >= -1 * k2 else 'c'
""",
        ([2000001], [2000002]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + 0.1 * d.categorical([0.1, 0.5, 0.4])
    if d.where(k1 < -0.3, k1, x[0]) < k1 + -0.1:
        return 0.1
    return 'b'
""",
        ([0.1], [0.3]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + d.categorical([0.4, 0.1, 0.1, 0.4])
    if d.floor(x[0] / 2) - 2 * k1 > -1:
        return 'a' if 10 * (d.floor(x[0] / 2) - 2 * k1) != 0 else 'b'
    return None if k1 < 3 else 'b'
""",
        ([0], [-1]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + d.integers(0, 4)
    k2 = d.categorical([0.1, 0.5, 0.4])
    k3 = 0
    while x[1] + k2 > k3 and k3 < 4:
        k3 += 1
    k4 = 0
    while x[1] + k1 > k4 and k4 < 4:
        k4 += 1
    k5 = 0
    while k2 + k3 >= k5 and k5 < 4:
        k5 += 1
    return k2
""",
        ([0, -1], [0, -1.75]),
    ),
    Program(  # rounding near 2,000,000 decides ties that the difference alone does not show
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + d.Dist.from_atoms({-0.1: 0.25, 0: 0.25, 1: 0.5})
    k2 = 0.1 * d.categorical([0.1, 0.2, 0.3, 0.4])
    return 'a' if k1 % 0.3 >= k2 else None
""",
        ([2000000], [0]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + d.Dist.from_atoms({-0.1: 0.25, 0.05: 0.25, 0.2: 0.5})
    k2 = 0.1 * d.categorical([0.1, 0.2, 0.3, 0.4])
    k3 = 0.1 * d.integers(-3, 2)
    if (k1 % 0.3) >= k2:
        return 'a' if abs(k3) >= 0.2 else 'c'
    return None if ((x[0] - 2000000) - k3) != d.floor(k2 / 0.1) else 'c'
""",
        ([2000000], [2000000.1]),
    ),
    Program(  # 0.1 + (0.2 + 0.2) and 0.1 + (0.3 + 0.1) are equal doubles, and not equal rationals
        "discrete",
        """
def mechanism(x):
    k1 = x[1] + 0.1 * d.categorical([0.25, 0.25, 0.5])
    return ('a', x[0] + k1)
""",
        ([0.1, 0.2], [0.1, 0.3]),
    ),
    Program(  # a mass at the thin end of a table's panel was said to be better known than it is
        "post",
        """
def mechanism(x):
    y1 = x[0] + d.laplace(1)
    v1 = d.laplace(3)
    if v1 >= y1:
        return None
    return d.ceil(y1 / 0.5)
""",
        ([2], [3]),
    ),
    Program(  # a draw that cancels in rationals has no number when the program is evaluated
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + 3 * d.bernoulli(0.5)
    v2 = abs(x[0] - k1)
    if not (x[0] <= k1):
        return 'a'
    v3 = -1 * (v2 + k1)
    v4 = d.floor((x[0] - v3) / 9)
    return v4 % 3
""",
        ([-3], [0]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + d.integers(-2, 2)
    k2 = d.Dist.from_atoms({-1: 0.25, 0: 0.25, 1: 0.5})
    v3 = k1 + k2
    if abs(k1) >= k2 - v3:
        return None
    return 'a'
""",
        ([0.4], [0.6]),
    ),
    Program(
        "one",
        """
def mechanism(x):
    z1 = d.from_scipy(stats.cauchy(scale=0.05))
    v2 = x[0] + z1
    if v2 < 0.1:
        return 'c' if 3 * v2 >= 0.1 - v2 else None
""",
        ([2000000.2], [2000000.3]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = d.integers(0, 4)
    k2 = d.Dist.from_atoms({-1: 0.25, 0.5: 0.25, 2: 0.5})
    v3 = x[0] - 2000000 - x[0] + k2
    if k1 == k2 or k1 != 2:
        pass
    return ('none', v3 // 3)
""",
        ([2000001], [2000001]),
    ),
    Program(
        "post",
        """
def mechanism(x):
    y1 = x[1] + d.laplace(0.1)
    v1 = d.uniform(0, 0.2)
    if y1 - 2000000 <= v1:
        return 'a'
    return y1 + v1
""",
        ([2000000.2, 2000000.2], [2000000.2, 2000000.3]),
    ),
    Program(
        "one",
        """
def mechanism(x):
    v4 = 0.1 * d.integers(-3, 3)
    if x[0] - v4 > 0:
        pass
    return 3 * v4
""",
        ([0], [0.3]),
    ),
    Program(
        "one",
        """
def mechanism(x):
    z1 = d.laplace(1)
    v2 = z1
    if x[1] <= v2 // 1:
        return v2
""",
        ([0, 2000000], [1, 2000000]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + d.integers(0, 4)
    k2 = d.integers(-1, 0)
    k3 = d.categorical([0.4, 0.1, 0.1, 0.4] if x[0] > 0 else [0.1, 0.5, 0.4])
    if ((k3 % 0.5) != (0.1 * k2)):
        v4 = k3
    else:
        v4 = (k3 + k2)
    if (x[0] == v4):
        return 'none' if (x[0] == v4) else None
    return ('c', d.clip(x[0], -2, 0))
""",
        ([0], [-1]),
    ),
    Program(
        "post",
        """
def mechanism(x):
    y0 = x[0] + d.laplace(1)
    y1 = x[1] + d.laplace(1)
    v1 = 1 * d.from_scipy(stats.t(3))
    if (((y1) + v1) >= 2):
        return 1
    if (not ((y0) <= v1)):
        return {'v': (y0), 'w': 'none' if (abs(v1) <= (v1 + (y1))) else None}
    if (v1 <= -2):
        pass
    return (y0)
""",
        ([1, 2], [2, 2]),
    ),
    Program(
        "one",
        """
def mechanism(x):
    z1 = d.gumbel(1)
    v2 = z1
    if v2 - x[0] >= 0:
        return None
    return 'a'
""",
        ([0], [2000001.125]),
    ),
    Program(
        "one",
        """
def mechanism(x):
    z1 = d.uniform(0, 0.1)
    v2 = x[0] + z1
    if v2 + -0.3 > -0.2:
        return v2 + -0.2
    return v2
""",
        ([0.2, -0.1], [0, -0.1]),
    ),
    Program(
        "tries",
        """
def mechanism(x):
    "x[0] + d.gaussian(1) > {t}|2|1|105|min(k, 2)|'end'"
    k = 0
    while k < 105 and (x[0] + d.gaussian(1) > 2):
        k += 1
    if k >= 105: return 'end'
    return min(k, 2)
""",
        ([0], [1]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + 0.1 * d.categorical([0.4, 0.1, 0.1, 0.4])
    k2 = 0.1 * d.categorical([0.25, 0.25, 0.5])
    k3 = 0.1 * d.bernoulli(0.3)
    return 'y' if k3 < (k2 + k1) - k2 else 'n'
""",
        ([0], [0.1]),
    ),
    Program(
        "discrete",
        """
def mechanism(x):
    k1 = x[0] + 0.1 * d.categorical([0.4, 0.1, 0.1, 0.4])
    k2 = 0.1 * d.categorical([0.25, 0.25, 0.5])
    k3 = 0.1 * d.bernoulli(0.3)
    v4 = (k2 + k1)
    if (d.where((x[0] < k1), k1, k3) < (v4 - k2)):
        return None if (x[0] == k1) else 'none'
    return {'v': v4, 'w': None if ((v4 >= k3) and (10 * (d.where((x[0] < k1), k1, k3) - (v4 - k2)) > 0)) else 'none'}
""",
        ([0], [0.1]),
    ),
    Program(
        "one",
        """
def mechanism(x):
    z1 = d.gumbel(2)
    v2 = x[0] + z1
    v3 = d.integers(-2, 2)
    if ((v2 - v3) < (1 - (x[0] - 2000000))):
        pass
    return (-1 * v2)
""",
        ([2000001], [2000000]),
    ),
    Program(  # the square of an end of a clipped value decided that of the value
        "one",
        """
def mechanism(x):
    z1 = d.laplace(1)
    v2 = d.clip(x[0] + z1, -2, 3)
    v3 = d.bernoulli(0.3)
    return v3 == d.where(v2 ** 2 > 1, 1, 0)
""",
        ([1], [1.5]),
    ),
    Program(  # no answer in four minutes: each density of wrapped noise was a sum over 724 turns
        "post",
        """
def mechanism(x):
    y0 = x[0] + d.logistic(1)
    y1 = x[1] + d.laplace(2)
    v1 = d.logistic(2)
    return {'v': v1, 'w': 'none' if (y1) + ((y0) % 2) >= v1 else 'c'}
""",
        ([2, -1], [1.25, -1]),
    ),
    Program(
        "post",
        """
def mechanism(x):
    y0 = x[0] + d.logistic(3)
    y1 = x[1] + d.laplace(1)
    return d.logistic(2) > y1 - math.floor(y0 / 0.1)
""",
        ([2, -1], [1.25, -1]),
    ),
    Program(  # eight steps of 0.1 are not 0.8
        "tries",
        """
def mechanism(x):
    "d.uniform(0, 1) < {a} - {a} / 4 * x[0]|0.75|0.1|3000|k == 0.8|'end'"
    k = 0.0
    while d.uniform(0, 1) < 0.75 - 0.75 / 4 * x[0]:
        k += 0.1
    return k == 0.8
""",
        ([0], [1]),
    ),
)
