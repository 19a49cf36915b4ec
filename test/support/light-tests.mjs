// Loaded first into a test process (`run.ts`) to make tracking the current test cheaper. Node's runner installs a hook
// for every promise and handle that any code creates, and again when each is collected, to find its test. That takes a
// tenth of the CPU time of a server in the process. An AsyncLocalStorage does the same for free. If Node changes its
// implementation, this has no effect, or `batch.test.ts` reports that tests are no longer distinguished.
import async_hooks from 'node:async_hooks'

const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = async_hooks
const current = new AsyncLocalStorage()
let record

// The runner's tests extend this class: each is registered at creation and is current while it runs.
class TestResource extends AsyncResource {
  constructor(type, options) {
    super(type, options)
    record?.(this.asyncId(), type, this.triggerAsyncId(), this)
  }

  runInAsyncScope(run, self, ...args) {
    return super.runInAsyncScope(() => current.run(this.asyncId(), () => Reflect.apply(run, self, args)))
  }
}

// The runner takes these when it is loaded. Afterwards everyone gets Node's own again.
Object.assign(async_hooks, {
  AsyncResource: TestResource,
  executionAsyncId: () => current.getStore() ?? executionAsyncId(),
  createHook: ({ init }) => {
    record = init
    return { enable: () => {}, disable: () => {} }
  },
})
await import('node:test')
Object.assign(async_hooks, { AsyncResource, executionAsyncId, createHook })
