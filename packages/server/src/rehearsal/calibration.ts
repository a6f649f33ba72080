import { Worker } from 'node:worker_threads'

/** An idle thread, measured like the agents: its delay is caused by the machine alone. */
export class MachineCalibration {
  readonly #worker = new Worker(IDLE, { eval: true })
  #delayMsMax = 0

  constructor() {
    this.#worker.on('message', (ms: number) => {
      this.#delayMsMax = ms
    })
    this.#worker.unref()
  }

  get delayMsMax(): number {
    return this.#delayMsMax
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

const IDLE = `
  const { monitorEventLoopDelay } = require('node:perf_hooks')
  const { parentPort } = require('node:worker_threads')
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  setInterval(() => parentPort.postMessage(Math.max(0, Math.round(delay.max / 1e6 - 20))), 500)
`
