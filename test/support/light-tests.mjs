// Loaded first into a test process (`run.ts`) to make tracking the current test cheaper. To find the current test,
// Node's runner installs a hook for every promise and handle that any code creates, and again when each is collected.
// That takes a tenth of the CPU time of an in-process server. An AsyncLocalStorage does the same at no cost. If Node
// changes its implementation, this either has no effect, or `batch.test.ts` reports that tests are no longer
// distinguished.
import async_hooks from 'node:async_hooks'

const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = async_hooks
const current = new AsyncLocalStorage()
let record

// The runner's tests extend this class. Each test is registered when it is created and is current while it runs.
class TestResource extends AsyncResource {
  constructor(type, options) {
    super(type, options)
    record?.(this.asyncId(), type, this.triggerAsyncId(), this)
  }

  runInAsyncScope(run, self, ...args) {
    return super.runInAsyncScope(() => current.run(this.asyncId(), () => Reflect.apply(run, self, args)))
  }
}

// The runner reads these when it is loaded. After that, all other code gets Node's originals again.
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
