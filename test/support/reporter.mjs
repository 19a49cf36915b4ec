// Tells the runner (`test/run.ts`) of each test as it ends, over the channel that the two share: what it is called, and
// why it failed. In the long form it also prints what tests have measured, for docs/scorecard.md. The reason is put into words here, in the test's own process. Node's own runner hands over the error
// itself, and comes to a silent stop when that holds something that cannot be handed over, such as a function.
import { inspect } from 'node:util'
import { takeLogLines } from './test-log.ts'

// What a test has set going and that failed after its end is no failure of a test to Node, only a remark like this.
const late = 'Error: '

const long = process.env.ORCH_LONG === '1'

export default async function* reporter(source) {
  let file
  for await (const { type, data } of source) {
    if (type === 'test:diagnostic' && data.message.startsWith(late)) process.send({ name: 'ended', why: data.message })
    if (type === 'test:diagnostic' && long && data.nesting > 0) console.log(`${file}: ${data.message}`)
    // The outermost suites are the files (`batch.mjs`); a test beside them is none of theirs.
    const isFile = data.nesting === 0 && data.details?.type === 'suite'
    if (type === 'test:start' && data.nesting === 0) file = data.name
    if ((type !== 'test:pass' && type !== 'test:fail') || (data.nesting === 0 && !isFile)) continue
    const tell = (name, why) => process.send({ file, name, why })
    const { name, details, skip, todo } = data
    // A test that did not run proves nothing: it counts as failed.
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

// What servers inside the process have logged is of interest only where a test failed.
function withLog(why) {
  const lines = takeLogLines()
  return lines.length === 0 ? why : `${why}\nLast lines of the log:\n${lines.join('')}`
}
