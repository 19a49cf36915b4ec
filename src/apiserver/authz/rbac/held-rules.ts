/**
 * A user's rules, indexed for repeated queries. A query first selects all rules that allow `pods`, then the rules among
 * them that apply to the group `apps`, and so on. Each result is computed on first use and is itself an indexed set.
 * Many queries therefore cost little more than one pass over the rules.
 *
 * The cost is reported to `spend` in steps of similar duration.
 */
import { allowsPath, type Rule } from './rule.ts'

/** The lists in a resource rule. */
export type Part = 'resources' | 'groups' | 'names' | 'verbs'

/** Rules by the entries in one of their lists. */
interface Index {
  readonly byWord: ReadonlyMap<string, readonly Rule[]>
  /** Rules that match any value, because their list contains a wildcard. */
  readonly every: HeldRules
  /** Cached results of `having`, by value. */
  readonly answers: Map<string, HeldRules>
}

export class HeldRules {
  readonly rules: readonly Rule[]
  readonly #spend: (steps: number) => void
  readonly #indexes = new Map<Part, Index>()
  #paths: PathIndex | undefined

  constructor(rules: readonly Rule[], spend: (steps: number) => void) {
    this.rules = rules
    this.#spend = spend
  }

  /**
   * Returns the rules that match a value in one of their lists. Without a value, returns the rules that match any
   * value.
   */
  having(part: Part, word: string | undefined): HeldRules {
    const { byWord, every, answers } = this.#index(part)
    if (word === undefined) return every
    const cachedRules = answers.get(word)
    if (cachedRules !== undefined) return cachedRules
    const named = wordsThatHold(part, word).flatMap((each) => byWord.get(each) ?? [])
    this.#spend(named.length + 1)
    const answer = named.length === 0 ? every : this.#setOf([...new Set([...named, ...every.rules])])
    answers.set(word, answer)
    return answer
  }

  /** Returns the rules that allow a path. The path may end in `*`. */
  allowingPath(path: string): Rule[] {
    this.#paths ??= this.#indexPaths()
    const { byPath, open } = this.#paths
    const named = byPath.get(path) ?? []
    this.#spend(named.length + open.length + 1)
    return [...named, ...open.filter((rule) => allowsPath(rule, path))]
  }

  #index(part: Part): Index {
    const cachedIndex = this.#indexes.get(part)
    if (cachedIndex !== undefined) return cachedIndex
    const { byWord, every } = this.#byWords((rule) => rule[part])
    const index = { byWord, every: this.#setOf(every), answers: new Map() }
    this.#indexes.set(part, index)
    return index
  }

  #indexPaths(): PathIndex {
    const { byWord, every } = this.#byWords(({ paths }) => paths)
    return { byPath: byWord, open: [...every, ...this.rules.filter(({ beginnings }) => beginnings.length > 0)] }
  }

  #byWords(wordsOf: (rule: Rule) => ReadonlySet<string> | undefined) {
    const byWord = new Map<string, Rule[]>()
    const every: Rule[] = []
    for (const rule of this.rules) {
      const words = wordsOf(rule)
      this.#spend(1 + (words?.size ?? 0))
      if (words === undefined) every.push(rule)
      else for (const word of words) add(byWord, word, rule)
    }
    return { byWord, every }
  }

  #setOf(rules: readonly Rule[]): HeldRules {
    this.#spend(rules.length)
    return rules.length === this.rules.length ? this : new HeldRules(rules, this.#spend)
  }
}

interface PathIndex {
  readonly byPath: ReadonlyMap<string, readonly Rule[]>
  /** Rules with a path that ends in `*`. */
  readonly open: readonly Rule[]
}

function add(byWord: Map<string, Rule[]>, word: string, rule: Rule): void {
  const rules = byWord.get(word)
  if (rules === undefined) byWord.set(word, [rule])
  else rules.push(rule)
}

/** Whether a rule matches a value in one of its lists. */
export function hasWord(rule: Rule, part: Part, word: string): boolean {
  const words = rule[part]
  return words === undefined || words.has(word) || wordsThatHold(part, word).some((each) => words.has(each))
}

/**
 * Returns the rule entries that match the given value. For the resource `pods/log`, these are `pods/log`, and `*`
 * followed by `/log`.
 */
function wordsThatHold(part: Part, word: string): string[] {
  const slash = part === 'resources' ? word.indexOf('/') : -1
  return slash === -1 ? [word] : [word, `*${word.slice(slash)}`]
}
