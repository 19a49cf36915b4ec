// Reports each completed test to the runner (`test/run.ts`) over their channel: its name, and why it failed. In the
// long variant, it also prints measurements for docs/understand/scorecard.md. The reason is formatted here, in the
// test's own process, because Node's runner passes on the error itself and silently stops if the error contains
// something that cannot be cloned, such as a function.
import { inspect } from 'node:util'
import { takeLogLines } from './test-log.ts'

// Node reports an error that occurs after the end of a test only as such a message, not as a failure.
const late = 'Error: '

const long = process.env.ORCH_LONG === '1'

export default async function* reporter(source) {
  let file
  for await (const { type, data } of source) {
    if (type === 'test:diagnostic' && data.message.startsWith(late)) process.send({ name: 'ended', why: data.message })
    if (type === 'test:diagnostic' && long && data.nesting > 0) console.log(`${file}: ${data.message}`)
    // The outermost suites are the files (`batch.mjs`). A test outside of them belongs to no file.
    const isFile = data.nesting === 0 && data.details?.type === 'suite'
    if (type === 'test:start' && data.nesting === 0) file = data.name
    if ((type !== 'test:pass' && type !== 'test:fail') || (data.nesting === 0 && !isFile)) continue
    const tell = (name, why) => process.send({ file, name, why })
    const { name, details, skip, todo } = data
    // A test that did not run proves nothing and counts as failed.
    if (skip !== undefined || todo !== undefined) tell(name, 'the test was skipped or is still to do')
    else if (type === 'test:fail' && details.error.failureType !== 'subtestsFailed')
      tell(name, withLog(reason(details.error)))
    else if (type === 'test:pass' && details.type !== 'suite') tell(name)
    if (isFile) takeLogLines()
  }
  yield ''
}

function reason(error) {
  const { cause } = error
  return cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause ?? error.message)
}

// The log of in-process servers matters only if a test has failed.
function withLog(why) {
  const lines = takeLogLines()
  return lines.length === 0 ? why : `${why}\nLast lines of the log:\n${lines.join('')}`
}
