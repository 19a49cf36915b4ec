/** Functions that match a string against a regular expression. */
import { BudgetExceeded } from '../budget.ts'
import { sizeOf } from '../compare.ts'
import { type Costs, define, type Functions, type Implementation, type Run } from '../overload.ts'
import type { Pattern } from '../regex.ts'
import { matchCost } from '../size.ts'
import { ArrayList, type Value } from '../values.ts'

const texts = (args: readonly Value[]) => args as unknown as readonly [string, string]

/** Maximum number of steps per match. A match cannot be interrupted, and each step can take up to 50 nanoseconds. */
const maxMatchSteps = 1_000_000

/** Returns the compiled pattern. Throws an error if matching the string could exceed the time budget. */
function patternFor({ pattern, budget }: Run, text: string, source: string): Pattern {
  const read = pattern(source)
  const steps = read.size * (text.length + 1)
  if (steps > maxMatchSteps) throw new BudgetExceeded()
  budget.work(steps)
  return read
}

const matching: Costs = {
  actual: ([text, pattern]) => matchCost(sizeOf(text!), sizeOf(pattern!)),
  estimate: ([text, pattern]) => ({ cost: matchCost(text!.size.max, pattern!.size.max) }),
}
const finding: Costs = {
  ...matching,
  estimate: ([text, pattern]) => ({
    cost: matchCost(text!.size.max, pattern!.size.max),
    size: { min: 0, max: text!.size.max },
  }),
}

const matches: Implementation = (run, args) => {
  const [text, source] = texts(args)
  return patternFor(run, text, source).test(text)
}

const findAll: Implementation = (run, args) => {
  const [text, source] = texts(args)
  const limit = args[2] === undefined ? -1 : Number(args[2])
  if (limit === 0) return new ArrayList([])
  run.budget.allocate(text.length)
  return new ArrayList(patternFor(run, text, source).findAll(text, limit < 0 ? Number.POSITIVE_INFINITY : limit))
}

export const patterns: Functions = new Map([
  ['matches', [define('string.(string) bool', matches, matching), define('(string, string) bool', matches, matching)]],
  [
    'find',
    [
      define(
        'string.(string) string',
        (run, args) => patternFor(run, texts(args)[0], texts(args)[1]).find(texts(args)[0]) ?? '',
        finding,
      ),
    ],
  ],
  [
    'findAll',
    [
      define('string.(string) list(string)', findAll, finding),
      define('string.(string, int) list(string)', findAll, finding),
    ],
  ],
])
