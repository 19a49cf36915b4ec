/** The annotations that change the lifecycle of a simulated pod (docs/operate/nodes.md). */
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

/** Returns the annotation keys by purpose. */
export function simulationKeys(vendor: Vendor) {
  const key = (name: string) => vendorKey(vendor, name, 'simulation')
  return {
    /** `image-pull-error`: the containers never start. */
    start: key('start'),
    startAfter: key('start-after'),
    /** Delay before the volumes of the pod are available. */
    volumesAfter: key('volumes-after'),
    /** `never`: the containers run but are not ready. */
    ready: key('ready'),
    readyAfter: key('ready-after'),
    /** Time after which the containers exit. */
    runFor: key('run-for'),
    /** Exit code of the containers. */
    exitCode: key('exit-code'),
    /** `OOMKilled`: the reason with which the containers exit. */
    exitReason: key('exit-reason'),
    restartAfter: key('restart-after'),
    /** `ignore`: a deleted pod runs until its grace period ends. */
    termination: key('termination'),
  } as const
}

export type SimulationKeys = ReturnType<typeof simulationKeys>
