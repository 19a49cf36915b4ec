/**
 * The sentinel of prototypes, to be loaded into a process before anything else (`node --import`): when the process ends,
 * the objects that all others inherit from must be as they were. An input that reached one of them (`__proto__`,
 * `constructor.prototype`) has reached every object of the process. Test files end with a failure then; a server ends
 * with a code of its own when a test asks for it by SIGUSR2, as it does at its end (`server.ts`).
 */
import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** The exit code of a process whose prototypes were changed. */
export const changedPrototypes = 86

const guarded = { Object, Array, Function, String, Number, Boolean, RegExp, Date, Map, Set, Promise, Error, Buffer }

/** Every own member of every guarded prototype; one that was replaced counts as another. */
function membersOf(): ReadonlyMap<string, unknown> {
  const members = new Map<string, unknown>()
  for (const [name, { prototype }] of Object.entries(guarded))
    for (const key of Reflect.ownKeys(prototype)) {
      const { value, get } = Reflect.getOwnPropertyDescriptor(prototype, key)!
      members.set(`${name}.prototype.${String(key)}`, value ?? get)
    }
  return members
}

function differences(before: ReadonlyMap<string, unknown>): string[] {
  const now = membersOf()
  return [...new Set([...before.keys(), ...now.keys()])].filter(
    (name) => before.has(name) !== now.has(name) || before.get(name) !== now.get(name),
  )
}

const before = membersOf()

function judge(): void {
  const changed = differences(before)
  if (changed.length === 0) return
  writeSync(2, `prototypes were changed: ${changed.join(', ')}\n`)
  process.exitCode = changedPrototypes
}

process.on('exit', judge)
if (isMainThread && process.env.ORCH_SENTINEL === 'server') {
  process.on('SIGUSR2', () => process.exit())
}
