// Tells the runner (`test/run.ts`) of each test as it ends, over the channel that the two share: what it is called, and
// why it failed. The reason is put into words here, in the test's own process. Node's own runner hands over the error
// itself, and comes to a silent stop when that holds something that cannot be handed over, such as a function.
import { inspect } from 'node:util'

// What a test has set going and that failed after its end is no failure of a test to Node, only a remark like this.
const late = 'Error: '

export default async function* reporter(source) {
  for await (const { type, data } of source) {
    if (type === 'test:diagnostic' && data.message.startsWith(late)) process.send({ name: 'ended', why: data.message })
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { name, details, skip, todo } = data
    if (details.type === 'suite') continue
    if (skip !== undefined || todo !== undefined) {
      // A test that did not run proves nothing: it counts as failed.
      process.send({ name, why: 'the test was skipped or is still to do' })
    } else if (type === 'test:pass') process.send({ name })
    else if (details.error.failureType !== 'subtestsFailed') process.send({ name, why: reason(details.error) })
  }
  yield ''
}

function reason(error) {
  const { cause } = error
  return cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause ?? error.message)
}
