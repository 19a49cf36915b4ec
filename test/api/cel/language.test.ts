/**
 * Tests the language: literals, operators, macros and functions. Each expression must be true unless its row
 * specifies another result.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { functions } from '../../../src/api/cel/functions/all.ts'
import { compileForJson, type Data, outcomeOf } from './evaluate-rule.ts'

function holds(title: string, rules: readonly string[], data: Data = {}): void {
  test(title, () => {
    for (const rule of rules) assert.equal(outcomeOf(rule, data), true, rule)
  })
}

function fails(title: string, rows: readonly (readonly [string, string])[], data: Data = {}): void {
  test(title, () => {
    for (const [rule, fault] of rows) assert.equal(outcomeOf(rule, data), fault, rule)
  })
}

describe('literals', () => {
  holds('numbers', [
    '0x1F == 31',
    '1u == 1u',
    '1.5e3 == 1500.0',
    '.5 == 0.5',
    '-9223372036854775808 < 0',
    '1e2 == 100.0',
  ])
  holds('texts', [
    String.raw`'\n\x41\u00e9\U0001F600\101' == "\nA\u00e9😀A"`,
    `"""a\n"b" """ == 'a\\n"b" '`,
    String.raw`r'\d' == '\\d'`,
    String.raw`b'\xff' != b'\xfe'`,
    String.raw`b'é\xc3\251' == bytes('éé')`,
    "size('a😀') == 2",
    'bytes("é").size() == 2',
  ])
  holds('lists and maps', ['[1, 2,] == [1, 2]', '{"a": 1, "b": 2}["b"] == 2', '{1: "x"}[1] == "x"', '[] == []'])
  holds('comments and whitespace', ['1 // one\n == 1'])
})

describe('operators', () => {
  holds('arithmetic', [
    '7 / 2 == 3',
    '-7 / 2 == -3',
    '-7 % 3 == -1',
    '2 * 3 + 4 == 10',
    '1 - -1 == 2',
    '7.0 / 2.0 == 3.5',
  ])
  holds('large numbers stay exact', [
    '9007199254740993 - 9007199254740992 == 1',
    '9223372036854775807 > 9223372036854775806',
    '3037000499 * 3037000499 == 9223372030926249001',
  ])
  fails('operations without a result', [
    ['9223372036854775807 + 1 > 0', 'integer overflow'],
    ['-(-9223372036854775808) > 0', 'integer overflow'],
    ['1 / 0 == 0', 'division by zero'],
    ['1 % 0 == 0', 'modulus by zero'],
    ['1u - 2u == 0u', 'unsigned integer overflow'],
    ['[1][1] == 1', 'index out of bounds: 1'],
    ['[1][-1] == 1', 'index out of bounds: -1'],
    ['{"a": 1}["b"] == 1', 'no such key: b'],
    ['{"a": 1}.b == 1', 'no such key: b'],
    ['{"a": 1, "a": 2}.a == 1', 'Failed with repeated key'],
  ])
  holds('order', ['1 < 2', '"a" < "b"', 'false < true', 'b"a" < b"b"', '"é" > "z"', '2.0 >= 2.0', '!(1 > 2)'])
  holds('logic ignores an error if the other operand decides', [
    '1 / 0 == 1 || true',
    'true || 1 / 0 == 1',
    '!(1 / 0 == 1 && false)',
    '!(false && 1 / 0 == 1)',
    'true ? true : 1 / 0 == 1',
  ])
  fails('logic returns the error if no operand decides', [['1 / 0 == 1 || false', 'division by zero']])
  holds('membership', ['2 in [1, 2]', '!(3 in [1, 2])', '"a" in {"a": 1}'])
  holds('precedence', [
    '1 + 2 * 3 == 7',
    '!true || true',
    'true || false && false',
    '1 < 2 == true',
    '(1 < 2) != false',
  ])
  holds('concatenation', ['"a" + "b" == "ab"', '[1] + [2] == [1, 2]', 'b"a" + b"b" == b"ab"'])
})

describe('macros', () => {
  holds('on lists', [
    '[1, 2].all(x, x > 0)',
    '[].all(x, x > 0)',
    '![1, 2].all(x, x > 1)',
    '[1, 2].exists(x, x == 2)',
    '![].exists(x, true)',
    '[1, 2, 2].exists_one(x, x == 1)',
    '![1, 2, 2].exists_one(x, x == 2)',
    '[1, 2].map(x, x * 2) == [2, 4]',
    '[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]',
    '[1, 2, 3].filter(x, x > 1) == [2, 3]',
    '[[1], [2]].all(x, x.all(x, x > 0))',
  ])
  holds('macros on maps iterate over the keys', ['{"a": 1}.all(k, k == "a")', '{"a": 1, "b": 2}.map(k, k).size() == 2'])
  holds('an error counts only if no element decides', ['![1, 0].all(x, 1 / x < 0)', '[0, 1].exists(x, 1 / x == 1)'])
  fails('the error is the result if no element decides', [['[0, 1].all(x, 1 / x == 1)', 'division by zero']])
  holds('has', ['has({"a": 1}.a)', '!has({"a": 1}.b)'])
  fails('has requires a field', [
    ['has(1)', 'compilation failed: ERROR: <input>:1:4: invalid argument to has() macro\n | has(1)\n | ...^'],
    [
      '[1].all(x.y, true)',
      'compilation failed: ERROR: <input>:1:10: argument must be a simple name\n | [1].all(x.y, true)\n | .........^',
    ],
  ])
})

describe('conversions', () => {
  holds('between types', [
    'int("-5") == -5 && int(2.9) == 2 && int(5u) == 5 && int(timestamp("1970-01-01T00:00:02Z")) == 2',
    'uint(3) == 3u && uint("7") == 7u',
    'double(2) == 2.0 && double("1.5") == 1.5',
    'string(1) == "1" && string(1.5) == "1.5" && string(true) == "true" && string(b"a") == "a" && string(2u) == "2"',
    'string(duration("1m1.5s")) == "61.5s" && string(timestamp("2020-01-01T00:00:00.5Z")) == "2020-01-01T00:00:00.5Z"',
    'bool("true") && bytes("a") == b"a" && dyn(1) == 1',
    'type(1) == int && type("a") == string && type([]) == list && type({}) == map && type(null) == null_type',
    'type(timestamp(0)) == google.protobuf.Timestamp && type(type(1)) == type',
  ])
  fails('that fail', [
    ['int("x") == 1', "type conversion error from 'string' to 'int'"],
    ['int(1e30) == 1', 'integer overflow'],
    ['uint(-1) == 1u', 'unsigned integer overflow'],
    ['string(b"\\xff") == ""', 'invalid UTF-8 in bytes, cannot convert to string'],
  ])
})

describe('times', () => {
  holds('timestamps', [
    'timestamp("2020-03-01T10:20:30.123Z").getFullYear() == 2020',
    'timestamp("2020-03-01T10:20:30Z").getMonth() == 2 && timestamp("2020-03-01T10:20:30Z").getDate() == 1',
    'timestamp("2020-03-01T10:20:30Z").getDayOfMonth() == 0 && timestamp("2020-03-01T00:00:00Z").getDayOfYear() == 60',
    'timestamp("2020-03-01T10:20:30Z").getDayOfWeek() == 0',
    'timestamp("2020-03-01T10:20:30.123Z").getMilliseconds() == 123',
    'timestamp("2020-03-01T10:20:30Z").getHours("+02:00") == 12',
    'timestamp("2020-03-01T10:20:30Z").getHours("America/New_York") == 5',
    'timestamp("2020-03-01T10:20:30+01:00") == timestamp("2020-03-01T09:20:30Z")',
    'timestamp("2020-01-01T00:00:10Z") - timestamp("2020-01-01T00:00:00Z") == duration("10s")',
    'timestamp("2020-01-01T00:00:00Z") + duration("1h") > timestamp("2020-01-01T00:59:59Z")',
  ])
  holds('durations', [
    'duration("1h30m") == duration("90m")',
    'duration("90s").getMinutes() == 1 && duration("1.5s").getMilliseconds() == 1500 && duration("-1h").getHours() == -1',
    'duration("1m30s").getSeconds() == 90 && timestamp("2020-03-01T10:20:30Z").getSeconds() == 30',
    'duration("1h") - duration("1m") == duration("59m")',
    'duration("0") == duration("0s")',
  ])
  fails('that are invalid', [
    ['duration("x") == duration("1s")', 'time: invalid duration "x"'],
    ['timestamp("2020-13-01T00:00:00Z") == timestamp(0)', 'parsing time "2020-13-01T00:00:00Z" as RFC 3339 failed'],
    ['timestamp(0).getHours("Nowhere/City") == 1', 'unknown time zone Nowhere/City'],
  ])
})

describe('strings', () => {
  holds('of the language', [
    '"abc".contains("b") && "abc".startsWith("a") && "abc".endsWith("bc")',
    '"abc".matches("^a.c$") && matches("abc", "b") && !"abc".matches("^b")',
  ])
  holds('of the extension', [
    '"hello".charAt(4) == "o" && "hello".charAt(5) == ""',
    '"hello mellow".indexOf("ello") == 1 && "hello mellow".indexOf("ello", 2) == 7 && "a".indexOf("") == 0',
    '"hello mellow".lastIndexOf("ello") == 7 && "hello mellow".lastIndexOf("ello", 6) == 1 && "a".lastIndexOf("z") == -1',
    '"😀a".indexOf("a") == 1 && "😀a".charAt(1) == "a" && "😀ab".substring(1, 2) == "a"',
    '["a", "b"].join() == "ab" && ["a", "b"].join("-") == "a-b" && [].join("-") == ""',
    '"TacoCat".lowerAscii() == "tacocat" && "TacoCÆt".upperAscii() == "TACOCÆT"',
    '"hello hello".replace("he", "we") == "wello wello" && "hello hello".replace("he", "we", 1) == "wello hello"',
    '"abc".replace("", "_") == "_a_b_c_" && "hello".replace("l", "", 0) == "hello"',
    '"a b c".split(" ") == ["a", "b", "c"] && "a b c".split(" ", 2) == ["a", "b c"] && "a".split(" ", 0) == []',
    '"ab".split("") == ["a", "b"]',
    '"tacocat".substring(4) == "cat" && "tacocat".substring(0, 4) == "taco"',
    '"  \\ttrim\\n ".trim() == "trim"',
  ])
  holds('patterns', [
    '"abc 123".find("[0-9]+") == "123" && "abc".find("[0-9]+") == ""',
    '"1 22 3".findAll("[0-9]+") == ["1", "22", "3"] && "1 22 3".findAll("[0-9]+", 2) == ["1", "22"]',
    '"abc".findAll("x") == []',
  ])
  fails('out of range', [
    ['"abc".charAt(4) == ""', 'index out of range: 4'],
    ['"abc".substring(2, 1) == ""', 'invalid substring range. start: 2, end: 1'],
  ])
  test('a rule with an invalid pattern fails to evaluate', () => {
    assert.match(String(outcomeOf('"a".matches("(")')), /^program instantiation failed: .*missing closing \)/)
  })
})

describe('lists and URLs', () => {
  holds('of Kubernetes', [
    '[1, 2, 2].isSorted() && ![2, 1].isSorted() && [].isSorted() && ["a", "b"].isSorted()',
    '[1, 3].sum() == 4 && [1.5, 1.5].sum() == 3.0 && [duration("1m"), duration("1s")].sum() == duration("61s")',
    '[3, 1, 2].min() == 1 && [3, 1, 2].max() == 3 && ["a", "b"].max() == "b"',
    '[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1].indexOf(5) == -1',
    'isURL("https://user:pass@example.com:80/path?query=val#fragment") && isURL("/absolute-path")',
    '!isURL("https://a:b:c/") && !isURL("../relative-path") && !isURL("")',
    'url("https://example.com:80/").getHost() == "example.com:80" && url("https://[::1]:80/").getHostname() == "::1"',
    'url("/path").getScheme() == "" && url("HTTPS://e.com/").getScheme() == "https" && url("https://e.com:80/").getPort() == "80"',
    'url("https://e.com/with space/").getEscapedPath() == "/with%20space/"',
    'url("https://e.com/p?k1=a&k2=b&k2=c%20d").getQuery() == {"k1": ["a"], "k2": ["b", "c d"]}',
    'url("https://e.com/p").getQuery() == {}',
  ])
  fails('faults', [
    ['[].min() == 1', 'min called on empty list'],
    [
      'url("../x").getHost() == ""',
      'URL parse error during conversion from string: parse "../x": invalid URI for request',
    ],
  ])
})

describe('rule compilation errors', () => {
  const mark = (rule: string, column: number, text: string) =>
    [
      rule,
      `compilation failed: ERROR: <input>:1:${column}: ${text}\n | ${rule}\n | ${'.'.repeat(column - 1)}^`,
    ] as const
  fails('names and types', [
    mark('foo == 1', 1, "undeclared reference to 'foo' (in container '')"),
    mark('"a".foo()', 8, "undeclared reference to 'foo' (in container '')"),
    mark('1 + "a" == 2', 3, "found no matching overload for '_+_' applied to '(int, string)'"),
    mark('"a".contains(1)', 13, "found no matching overload for 'contains' applied to 'string.(int)'"),
    mark('[1, "a"] == []', 5, "expected type 'int' but found 'string'"),
    mark('"a".b == 1', 4, "type 'string' does not support field selection"),
    mark(
      '"a".all(x, true)',
      1,
      "expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
    ),
    mark('self.a == 1', 5, "undefined field 'a'"),
    mark('1 == null', 3, "found no matching overload for '_==_' applied to '(int, null)'"),
  ])
  fails('text', [
    mark('1 1', 3, "Syntax error: extraneous input '1' expecting <EOF>"),
    mark("'a", 1, "Syntax error: token recognition error at: '''"),
    mark('a # b', 3, "Syntax error: token recognition error at: '#'"),
    mark('for == 1', 1, 'reserved identifier: for'),
    mark('9223372036854775808 > 0', 1, 'invalid int literal'),
  ])
  test('a rule must evaluate to a bool', () => assert.equal(outcomeOf('1'), 'cel expression must evaluate to a bool'))
  test('all compilation errors of a rule are reported in source order', () => {
    assert.match(String(outcomeOf('x == 1 && y == 2')), /1:1: .*'x'[\s\S]*\n.*1:11: .*'y'/)
  })
})

describe('functions of later Kubernetes versions', () => {
  const data: Data = {
    schema: { type: 'object', properties: { s: { type: 'string' }, l: { type: 'array', items: { type: 'string' } } } },
    self: { l: ['b', 'a'] },
  }
  holds(
    'optional values',
    [
      '!self.?s.hasValue() && self.?l.hasValue()',
      "self.?s.orValue('x') == 'x' && self.?l[0].value() == 'b' && self.l[?5] == optional.none()",
      "self.?l[?1].optMap(v, v + v).value() == 'aa'",
      "self.?l.optFlatMap(v, v.first()).value() == 'b' && self.l.last().value() == 'a'",
      '[?self.?s, ?self.?l[?0]] == ["b"] && size({?"a": self.?s}) == 0',
      "optional.ofNonZeroValue('').or(optional.of('y')).value() == 'y'",
      '[optional.of(1), optional.none()].unwrapOpt() == [1]',
      'optional.unwrap([optional.of(1), optional.none()]) == [1]',
    ],
    data,
  )
  fails('reading an absent optional value', [['optional.none().value() == 1', 'optional.none() dereference']])
  holds('macros with two variables', [
    '[1, 2].all(i, v, v == i + 1) && {"a": 1}.exists(k, v, k == "a" && v == 1)',
    '[1, 2].existsOne(i, v, v == 2) && [1, 2].existsOne(v, v == 2)',
    '[1, 2, 3].transformList(i, v, i > 0, v * 2) == [4, 6]',
    '{"a": 1, "b": 2}.transformMap(k, v, v > 1, v + 1) == {"b": 3}',
    '{"a": "b"}.transformMapEntry(k, v, {v: k}) == {"b": "a"}',
  ])
  holds('numbers of different types', ['1 < 1.5 && 2u > 1 && 1.0 <= 1u'])
  holds('sets and lists', [
    'sets.contains([1, 2, 3], [2]) && !sets.contains([1], [2]) && sets.equivalent([1, 1, 2], [2, 1])',
    'sets.intersects([1], [1, 2]) && !sets.intersects([], [1])',
    'sets.contains([1, dyn([2])], [dyn([2.0])]) && sets.contains([1, dyn(2u), dyn(3.0)], [dyn(3u), dyn(1.0), dyn(2)])',
    '[dyn(1), dyn(2u), dyn(1.0), dyn([1]), dyn([1.0]), dyn(null)].distinct().size() == 4',
    '["bb", "a", "ccc"].sortBy(x, size(x)) == ["a", "bb", "ccc"] && [1, 3, 2].sortBy(x, -x) == [3, 2, 1]',
    '[3, 1, 2].sort() == [1, 2, 3] && [1, 1, 2].distinct() == [1, 2] && [1, 2].reverse() == [2, 1]',
    '[[1], [2, 3]].flatten() == [1, 2, 3] && [1, 2, 3].slice(1, 2) == [2] && lists.range(3) == [0, 1, 2]',
  ])
  fails('slices outside the list', [
    ['[1].slice(0, 2) == []', 'cannot slice(0, 2), list is length 1'],
    ['[1].slice(-1, 1) == []', 'cannot slice(-1, 1), negative indexes not supported'],
  ])
  holds('quantities', [
    "isQuantity('1Gi') && !isQuantity('x') && quantity('1Gi') == quantity('1024Mi')",
    "quantity('2').isGreaterThan(quantity('1')) && quantity('1').isLessThan(quantity('1500m'))",
    "quantity('1k').add(1).sub(quantity('1')).asInteger() == 1000 && !quantity('1.5').isInteger()",
    "quantity('1.5').asApproximateFloat() == 1.5 && sign(quantity('-1')) == -1",
    "quantity('1').compareTo(quantity('2')) == -1",
  ])
  holds('addresses', [
    "isIP('10.0.0.1') && !isIP('010.0.0.1') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%eth0')",
    "ip('2001:db8::1').family() == 6 && ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')",
    "ip('127.0.0.1').isLoopback() && ip('0.0.0.0').isUnspecified() && ip('224.0.0.1').isLinkLocalMulticast()",
    "ip('fe80::1').isLinkLocalUnicast() && ip('10.0.0.1').isGlobalUnicast() && string(ip('::1')) == '::1'",
    "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33') && cidr('10.0.0.0/8').containsIP('10.1.0.1')",
    "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))",
    "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('::/0').prefixLength() == 0",
    "cidr('10.1.2.3/8').ip() == ip('10.1.2.3')",
  ])
  holds('versions', [
    "isSemver('1.2.3-a.1+b') && !isSemver('1.2') && isSemver('v1.02', true)",
    "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
    "semver('1.0.0').isGreaterThan(semver('1.0.0-rc.2')) && semver('1.0.0-2').isLessThan(semver('1.0.0-10'))",
    "semver('1.0.0+a').compareTo(semver('1.0.0+b')) == 0",
  ])
  holds('formats', [
    "'%s is %d, %.2f, %x, %b %%'.format(['a', 5, 1.5, 255, 5]) == 'a is 5, 1.50, ff, 101 %'",
    "'%s'.format([[1, 2]]) == '[1, 2]' && '%e'.format([1234.5]) == '1.234500e+03'",
    'strings.quote("a\\n\\"") == "\\"a\\\\n\\\\\\"\\""',
    "!format.dns1123Label().validate('a-b').hasValue() && format.named('uuid').value().validate('x').hasValue()",
    "!format.named('nope').hasValue() && !format.date().validate('2024-02-29').hasValue()",
  ])
  fails('formats with wrong arguments', [
    [
      "'%d'.format(['a']) == ''",
      'error during formatting: decimal clause can only be used on integers, was given string',
    ],
    ["'%s'.format([]) == ''", 'index 0 out of range'],
  ])
  test('a rule can use only the functions of the emulated Kubernetes version', () => {
    const rows: [number, string][] = [
      [27, 'timestamp("2024-01-01T00:00:00Z").getFullYear() == 2024'],
      [28, "isQuantity('1')"],
      [28, 'optional.of(1).optMap(v, v).hasValue()'],
      [29, 'sets.contains([1], [1])'],
      [30, "isIP('1')"],
      [32, '[1].all(i, v, true)'],
      [33, "isSemver('1')"],
      [31, 'format.uuid().validate("x") != null'],
      [34, '[2, 1].sort() == [1, 2]'],
      [34, '[2, 1].sortBy(x, x) == [1, 2]'],
    ]
    for (const [since, rule] of rows) {
      assert.equal(compileForJson(rule, undefined, since).outcome, 'program', rule)
      if (since > 27) assert.equal(compileForJson(rule, undefined, since - 1).outcome, 'invalid', rule)
    }
  })
})

// Rules have no variable `authorizer`, so the tests of policies cover its functions. They are listed here for the first
// test below: path( group( resource( subresource( namespace( name( serviceAccount( fieldSelector( labelSelector( check(
// allowed( reason( errored( error(
describe('functions available in rules', () => {
  const names = [...functions.keys()].filter((name) => /^[a-z]\w*$/i.test(name))
  const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

  test('every CEL function has a test case in this file', () => {
    const rows = textOf(import.meta.url)
    assert.deepEqual(
      names.filter((name) => !rows.includes(`${name}(`)),
      [],
    )
  })

  test('docs/extend/cel.md lists every function that Kubernetes adds to CEL', () => {
    const page = textOf('../../../docs/extend/cel.md')
    const own =
      'bool bytes contains double duration dyn endsWith int matches size startsWith string timestamp type uint'
    const isOfLanguage = (name: string) =>
      own.split(' ').includes(name) || /^get(Date|Day|FullYear|Hours|M|Seconds)/.test(name)
    assert.deepEqual(
      names.filter((name) => !isOfLanguage(name) && !page.includes(`\`${name}`)),
      [],
    )
  })
})
