// The sentinel of prototypes, to be loaded into a process before anything else (`node --import`): when the process ends,
// the objects that all others inherit from must be as they were. An input that reached one of them (`__proto__`,
// `constructor.prototype`) has reached every object of the process. Test files end with a failure then; a server ends
// with this exit code when a test asks for it by SIGUSR2, as every test does at its end (`server.ts`). Plain JavaScript:
// every server of every test loads it, and types would have to be stripped each time.
import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const changedPrototypes = 86

const guarded = { Object, Array, Function, String, Number, Boolean, RegExp, Date, Map, Set, Promise, Error, Buffer }

// Every own member of every guarded prototype; one that was replaced counts as another.
function membersOf() {
  const members = new Map()
  for (const [name, { prototype }] of Object.entries(guarded))
    for (const key of Reflect.ownKeys(prototype)) {
      const { value, get } = Reflect.getOwnPropertyDescriptor(prototype, key)
      members.set(`${name}.prototype.${String(key)}`, value ?? get)
    }
  return members
}

const before = membersOf()

process.on('exit', () => {
  const now = membersOf()
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
    (name) => before.has(name) !== now.has(name) || before.get(name) !== now.get(name),
  )
  if (changed.length === 0) return
  writeSync(2, `prototypes were changed: ${changed.join(', ')}\n`)
  process.exitCode = changedPrototypes
})

if (isMainThread && process.env.ORCH_SENTINEL === 'server') process.on('SIGUSR2', () => process.exit())
