// Loaded before anything else into a process of tests (`run.ts`): what it takes to know which test is under way. Node's
// runner has a hook called for every promise and every handle that any code makes, and again when each is collected, to
// find the test that it belongs to: a tenth of the processor time of a server inside the process. An AsyncLocalStorage
// tells the same for nothing. If Node goes about it in another way some day, this has no effect, or `batch.test.ts` says
// that tests are no longer told apart.
import async_hooks from 'node:async_hooks'

const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = async_hooks
const current = new AsyncLocalStorage()
let record

// The runner's tests are of this class: each is recorded when it is made, and is the current one while it runs.
class TestResource extends AsyncResource {
  constructor(type, options) {
    super(type, options)
    record?.(this.asyncId(), type, this.triggerAsyncId(), this)
  }

  runInAsyncScope(run, self, ...args) {
    return super.runInAsyncScope(() => current.run(this.asyncId(), () => Reflect.apply(run, self, args)))
  }
}

// The runner takes these when it is loaded; from then on everybody has Node's own again.
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
