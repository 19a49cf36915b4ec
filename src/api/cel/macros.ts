/** Macros: `has(a.b)`, and macros that declare a variable, such as `list.all(x, ...)`. */
import { type Call, type Fold, type FoldName, foldNames, type Node } from './ast.ts'
import { SyntaxIssue } from './issues.ts'

/** Returns undefined for an ordinary call. Throws SyntaxIssue if a macro is used incorrectly. */
export function readMacro(call: Call): Node | undefined {
  const { name, target, args, at } = call
  if (target === undefined) return name === 'has' && args.length === 1 ? presenceOf(args[0]!, at) : undefined
  if (!foldNames.includes(name as FoldName)) return undefined
  const takes = name === 'map' ? args.length === 2 || args.length === 3 : args.length === 2
  return takes ? foldOf(call, target) : undefined
}

function presenceOf(argument: Node, at: number): Node {
  if (argument.kind !== 'select' || argument.isTest) throw new SyntaxIssue(at, 'invalid argument to has() macro')
  return { ...argument, isTest: true }
}

function foldOf({ name, args, at }: Call, range: Node): Fold {
  const [variable, second, third] = args
  if (variable?.kind !== 'identifier') throw new SyntaxIssue(variable?.at ?? at, 'argument must be a simple name')
  const isMap = name === 'map'
  return {
    kind: 'fold',
    at,
    macro: name as FoldName,
    range,
    variable: variable.name,
    predicate: isMap && third === undefined ? undefined : second,
    transform: isMap ? (third ?? second) : undefined,
  }
}
