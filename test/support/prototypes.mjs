// Prototype guard, loaded first into a process (`node --import`). When the process exits, the built-in prototypes must
// be unchanged, because an input that modified one (`__proto__`, `constructor.prototype`) would affect every object. If
// a prototype has changed, test files fail. A server then exits with this code when a test sends SIGUSR2, as every test
// does at its end (`server.ts`). This is plain JavaScript, because every test server loads it and stripping types would
// take time.
import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const changedPrototypes = 86

const guarded = { Object, Array, Function, String, Number, Boolean, RegExp, Date, Map, Set, Promise, Error, Buffer }

// Returns every own member of every guarded prototype. Replaced members count as different.
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
