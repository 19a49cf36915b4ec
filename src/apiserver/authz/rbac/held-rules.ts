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
  readonly byEntry: ReadonlyMap<string, readonly Rule[]>
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
  having(part: Part, value: string | undefined): HeldRules {
    const { byEntry, every, answers } = this.#index(part)
    if (value === undefined) return every
    const cachedRules = answers.get(value)
    if (cachedRules !== undefined) return cachedRules
    const named = matchingEntries(part, value).flatMap((each) => byEntry.get(each) ?? [])
    this.#spend(named.length + 1)
    const answer = named.length === 0 ? every : this.#setOf([...new Set([...named, ...every.rules])])
    answers.set(value, answer)
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
    const { byEntry, every } = this.#byEntries((rule) => rule[part])
    const index = { byEntry, every: this.#setOf(every), answers: new Map() }
    this.#indexes.set(part, index)
    return index
  }

  #indexPaths(): PathIndex {
    const { byEntry, every } = this.#byEntries(({ paths }) => paths)
    return { byPath: byEntry, open: [...every, ...this.rules.filter(({ beginnings }) => beginnings.length > 0)] }
  }

  #byEntries(entriesOf: (rule: Rule) => ReadonlySet<string> | undefined) {
    const byEntry = new Map<string, Rule[]>()
    const every: Rule[] = []
    for (const rule of this.rules) {
      const entries = entriesOf(rule)
      this.#spend(1 + (entries?.size ?? 0))
      if (entries === undefined) every.push(rule)
      else for (const entry of entries) add(byEntry, entry, rule)
    }
    return { byEntry, every }
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

function add(byEntry: Map<string, Rule[]>, entry: string, rule: Rule): void {
  const rules = byEntry.get(entry)
  if (rules === undefined) byEntry.set(entry, [rule])
  else rules.push(rule)
}

/** Whether a rule matches a value in one of its lists. */
export function matchesValue(rule: Rule, part: Part, value: string): boolean {
  const entries = rule[part]
  return entries === undefined || entries.has(value) || matchingEntries(part, value).some((each) => entries.has(each))
}

/**
 * Returns the rule entries that match the given value. For the resource `pods/log`, these are `pods/log`, and `*`
 * followed by `/log`.
 */
function matchingEntries(part: Part, value: string): string[] {
  const slash = part === 'resources' ? value.indexOf('/') : -1
  return slash === -1 ? [value] : [value, `*${value.slice(slash)}`]
}
