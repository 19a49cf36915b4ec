/**
 * A backtracking matcher that works like V8's matcher and counts its steps, and strings that make a regular expression
 * slow. The strings are derived from the parts of the expression. Counting steps is exact, so a busy machine does not
 * affect the results.
 *
 * Single characters and lookbehind assertions are evaluated by the real engine. Expressions with backreferences are not
 * supported.
 */

type Node =
  | { readonly type: 'char'; readonly test: RegExp }
  | { readonly type: 'assert'; readonly test: RegExp }
  | { readonly type: 'look'; readonly node: Node; readonly negated: boolean }
  | { readonly type: 'seq'; readonly nodes: readonly Node[] }
  | { readonly type: 'alt'; readonly nodes: readonly Node[] }
  | {
      readonly type: 'repeat'
      readonly node: Node
      readonly min: number
      readonly max: number
      readonly greedy: boolean
    }

class Parser {
  readonly #source: string
  readonly #flags: string
  #at = 0

  constructor({ source, flags }: { source: string; flags: string }) {
    this.#source = source
    this.#flags = flags.replace(/[gyd]/g, '')
  }

  parse(): Node {
    const node = this.#alternatives()
    if (this.#at < this.#source.length) throw new Error(`cannot parse ${this.#source} at ${this.#at}`)
    return node
  }

  #alternatives(): Node {
    const nodes = [this.#sequence()]
    while (this.#take('|')) nodes.push(this.#sequence())
    return nodes.length === 1 ? nodes[0]! : { type: 'alt', nodes }
  }

  #sequence(): Node {
    const nodes: Node[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!)) nodes.push(this.#quantified())
    return { type: 'seq', nodes }
  }

  #quantified(): Node {
    const node = this.#atom()
    const match = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(\?)?/.exec(this.#source.slice(this.#at))
    if (match === null) return node
    const [all, sign, least, comma, most, lazy] = match
    this.#at += all.length
    const min = sign === undefined ? Number(least) : sign === '+' ? 1 : 0
    const max =
      sign === '?'
        ? 1
        : sign !== undefined || (comma && most === '')
          ? Number.POSITIVE_INFINITY
          : Number(comma ? most : least)
    return { type: 'repeat', node, min, max, greedy: lazy === undefined }
  }

  #atom(): Node {
    const rest = this.#source.slice(this.#at)
    const look = /^\(\?(<?)([=!])/.exec(rest)
    if (look !== null) return this.#look(look)
    const group = /^\((?:\?:|\?<[A-Za-z]\w*>)?/.exec(rest)
    if (group !== null) {
      this.#at += group[0].length
      const node = this.#alternatives()
      this.#expect(')')
      return node
    }
    const assert = /^(?:\^|\$|\\[bB])/.exec(rest)
    if (assert !== null) {
      this.#at += assert[0].length
      return { type: 'assert', test: new RegExp(assert[0], `${this.#flags}y`) }
    }
    if (/^\\(?:[1-9]|k<)/.test(rest)) throw new Error(`${this.#source}: references to groups are not supported`)
    const char =
      /^(?:\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|c[A-Za-z]|.)|\[(?:[^\]\\]|\\.)*\]|[^\\])/su.exec(
        rest,
      )!
    this.#at += char[0].length
    return { type: 'char', test: new RegExp(`^(?:${char[0]})$`, this.#flags.replace('m', '')) }
  }

  #look([all, behind, sign]: RegExpExecArray): Node {
    const start = this.#at
    this.#at += all.length
    const node = this.#alternatives()
    this.#expect(')')
    if (behind === '<')
      return { type: 'assert', test: new RegExp(this.#source.slice(start, this.#at), `${this.#flags}y`) }
    return { type: 'look', node, negated: sign === '!' }
  }

  #take(sign: string): boolean {
    if (this.#source[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw new Error(`${this.#source}: no ${sign} at ${this.#at}`)
  }
}

type Code =
  | { readonly op: 'char'; readonly set: ReadonlyMap<string, boolean>; readonly test: RegExp }
  | { readonly op: 'assert'; readonly test: RegExp }
  | { readonly op: 'look'; readonly code: readonly Code[]; readonly negated: boolean }
  | { op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  /** Ends a loop iteration that started at the position in this slot. Empty iterations are not repeated. */
  | { readonly op: 'mark'; readonly slot: number }
  | { readonly op: 'moved'; readonly slot: number }
  | { readonly op: 'match' }

function compile(node: Node): Code[] {
  const code: Code[] = []
  let slots = 0
  const emit = (node: Node): void => {
    if (node.type === 'char') code.push({ op: 'char', set: new Map(), test: node.test })
    else if (node.type === 'assert') code.push({ op: 'assert', test: node.test })
    else if (node.type === 'look') code.push({ op: 'look', code: compile(node.node), negated: node.negated })
    else if (node.type === 'seq') for (const each of node.nodes) emit(each)
    else if (node.type === 'alt') emitAlternatives(node.nodes)
    else emitRepeat(node)
  }
  const emitAlternatives = (nodes: readonly Node[]) => {
    const jumps: { op: 'jump'; to: number }[] = []
    nodes.forEach((each, i) => {
      if (i === nodes.length - 1) {
        emit(each)
        return
      }
      const split = { op: 'split' as const, first: code.length + 1, second: 0 }
      code.push(split)
      emit(each)
      const jump = { op: 'jump' as const, to: 0 }
      jumps.push(jump)
      code.push(jump)
      split.second = code.length
    })
    for (const jump of jumps) jump.to = code.length
  }
  const emitRepeat = ({ node, min, max, greedy }: Extract<Node, { type: 'repeat' }>) => {
    for (let i = 0; i < min; i++) emit(node)
    const splits: { op: 'split'; first: number; second: number }[] = []
    const begin = () => {
      const split = { op: 'split' as const, first: 0, second: 0 }
      code.push(split)
      splits.push(split)
      return code.length
    }
    const bodies: number[] = []
    if (max === Number.POSITIVE_INFINITY) {
      const loop = code.length
      bodies.push(begin())
      const slot = slots++
      code.push({ op: 'mark', slot })
      emit(node)
      code.push({ op: 'moved', slot }, { op: 'jump', to: loop })
    } else
      for (let i = min; i < max; i++) {
        bodies.push(begin())
        emit(node)
      }
    splits.forEach((split, i) => {
      split.first = greedy ? bodies[i]! : code.length
      split.second = greedy ? code.length : bodies[i]!
    })
  }
  emit(node)
  code.push({ op: 'match' })
  return code
}

/** Number of steps after which the expression counts as exponential. */
const maxSteps = 1_000_000

class Matcher {
  steps = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** Returns the end of the match that begins at the given position. */
  match(code: readonly Code[], start: number): number | undefined {
    interface State {
      readonly pc: number
      readonly at: number
      readonly marks: readonly number[]
    }
    const stack: State[] = [{ pc: 0, at: start, marks: [] }]
    for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
      let { pc, at, marks } = state
      for (let alive = true; alive; ) {
        if (++this.steps > maxSteps) return undefined
        const now = code[pc]!
        pc++
        if (now.op === 'match') return at
        if (now.op === 'char') alive = at < this.#text.length && isIn(now, this.#text[at++]!)
        else if (now.op === 'jump') pc = now.to
        else if (now.op === 'split') {
          stack.push({ pc: now.second, at, marks })
          pc = now.first
        } else if (now.op === 'mark') {
          marks = [...marks]
          ;(marks as number[])[now.slot] = at
        } else if (now.op === 'moved') alive = marks[now.slot] !== at
        else if (now.op === 'assert') {
          now.test.lastIndex = at
          alive = now.test.test(this.#text)
        } else alive = (this.match(now.code, at) === undefined) === now.negated
      }
    }
    return undefined
  }
}

function isIn({ set, test }: Extract<Code, { op: 'char' }>, char: string): boolean {
  const existing = set.get(char)
  if (existing !== undefined) return existing
  const found = test.test(char)
  ;(set as Map<string, boolean>).set(char, found)
  return found
}

/**
 * Returns the number of steps needed to search a text for the first match or, with the flag `g` or `y`, for all
 * matches.
 */
export function stepsOf(code: readonly Code[], flags: string, text: string): number {
  const matcher = new Matcher(text)
  const isEvery = /[gy]/.test(flags)
  for (let at = 0; at <= text.length && matcher.steps <= maxSteps; ) {
    const end = matcher.match(code, at)
    if (end === undefined && flags.includes('y')) break
    if (end !== undefined && !isEvery) break
    at = end === undefined || end === at ? at + 1 : end
  }
  return matcher.steps
}

const candidates = [...Array.from({ length: 128 }, (_, i) => String.fromCharCode(i)), 'é', 'µ', '\u2028', '\ud800']
/** A character that almost no expression matches. */
const stranger = '\u0001'

/**
 * Returns characters that represent all others: every character is matched by exactly the same parts as one of them.
 */
function alphabetOf(node: Node): string[] {
  const tests = new Set<RegExp>()
  visit(node, (each) => {
    if (each.type === 'char') tests.add(each.test)
  })
  const bySignature = new Map<string, string>()
  for (const char of candidates) {
    const signature = [...tests].map((test) => (test.test(char) ? '1' : '0')).join('')
    // Printable characters are easier to read in a report.
    if (!bySignature.has(signature) || /^[\x20-\x7e]$/.test(char)) bySignature.set(signature, char)
  }
  return [...bySignature.values()]
}

function visit(node: Node, seen: (node: Node) => void): void {
  seen(node)
  if (node.type === 'seq' || node.type === 'alt') for (const each of node.nodes) visit(each, seen)
  if (node.type === 'repeat' || node.type === 'look') visit(node.node, seen)
}

/** Returns a short text that the part matches. */
function wordOf(node: Node): string {
  if (node.type === 'char')
    return (
      candidates.find((char) => char > ' ' && node.test.test(char)) ??
      candidates.find((char) => node.test.test(char)) ??
      stranger
    )
  if (node.type === 'seq') return node.nodes.map(wordOf).join('')
  if (node.type === 'alt') return wordOf(node.nodes[0]!)
  return node.type === 'repeat' ? wordOf(node.node).repeat(Math.min(node.min, 20)) : ''
}

interface Loop {
  /** Text that precedes the loop. */
  readonly prefix: string
  readonly words: readonly string[]
}

/** Returns the loops that have no limit or a high limit. */
function loopsIn(node: Node, prefix = ''): Loop[] {
  if (node.type === 'seq') {
    let before = prefix
    return node.nodes.flatMap((each) => {
      const loops = loopsIn(each, before)
      before += wordOf(each)
      return loops
    })
  }
  if (node.type === 'alt') return node.nodes.flatMap((each) => loopsIn(each, prefix))
  if (node.type === 'look') return loopsIn(node.node, prefix)
  if (node.type !== 'repeat') return []
  const inner = loopsIn(node.node, prefix)
  if (node.max <= largeLoop) return inner
  const words = node.node.type === 'alt' ? node.node.nodes.map(wordOf) : [wordOf(node.node)]
  return [{ prefix, words }, ...inner]
}

const largeLoop = 1000
const maxPairs = 5

export interface Attack {
  readonly text: string
  /** Numbers of steps for texts of one, two and four times a length. */
  readonly steps: readonly number[]
}

/** Returns a text for which the number of steps grows faster than the length, or undefined if no such text is found. */
export function superlinear(pattern: { source: string; flags: string }): Attack | undefined {
  const node = new Parser(pattern).parse()
  const loops = loopsIn(node)
  if (loops.length === 0) return undefined
  const code = compile(node)
  const alphabet = alphabetOf(node)
  const prefixes = [...new Set(['', ...loops.map(({ prefix }) => prefix)])]
  const pairs = alphabet.slice(0, maxPairs).flatMap((a) => alphabet.slice(0, maxPairs).map((b) => a + b))
  const words = [...loops.flatMap(({ words }) => words), ...alphabet, ...prefixes, wordOf(node), ...pairs]
  const pumps = [...new Set(words)].filter((pump) => pump !== '')
  const suffixes = [...new Set([stranger, '', '\n', ...alphabet.slice(0, 2)])]
  for (const prefix of prefixes)
    for (const pump of pumps)
      for (const suffix of suffixes) {
        const stepsFor = (times: number) => stepsOf(code, pattern.flags, prefix + pump.repeat(times * rounds) + suffix)
        const attack = { text: `${prefix}${pump.repeat(3)}...${suffix}`, steps: superlinearSteps(stepsFor) }
        if (attack.steps !== undefined) return attack as Attack
      }
  return undefined
}

/**
 * Returns the numbers of steps for texts of one, two and four times a length, or undefined if the steps grow linearly.
 */
function superlinearSteps(stepsFor: (times: number) => number): number[] | undefined {
  const short = stepsFor(1)
  const long = stepsFor(4)
  if (long <= maxSteps && long <= 4.2 * short + rounds) return undefined
  // Repeat the measurement with longer texts, because the steps of a loop with a minimum seem to grow steeply until the
  // texts reach that minimum.
  const steps = [4, 8, 16].map((times) => (long > maxSteps ? long : stepsFor(times)))
  return isSuperlinear(steps) ? steps : undefined
}

const rounds = 12

/**
 * Whether the number of steps grows faster than the length. For linear growth, second differences are constant or
 * shrink. For quadratic growth, they grow fourfold.
 */
function isSuperlinear([one, two, four]: readonly number[]): boolean {
  if (four! > maxSteps) return true
  const first = two! - 2 * one!
  const second = four! - 2 * two!
  return second > 4 * rounds && second > 3 * Math.max(first, 1)
}
