import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** What one vitest run tells `test/run.ts`. Vitest's JSON reporter leaves out why a test was skipped. */
export interface Report {
  readonly files: readonly FileReport[]
  /**
   * Errors that belong to no file: a worker that could not start, a rejected promise without a
   * handler.
   */
  readonly errors: number
}

export interface FileReport {
  /** Relative to the root of the tree. */
  readonly file: string
  readonly passed: number
  /** Failed tests, and errors of the file outside its tests. */
  readonly failed: number
  /** The titles of the failed tests. */
  readonly failures: readonly string[]
  readonly skipped: readonly { readonly title: string; readonly reason: string }[]
  /** Those that took more than a second. */
  readonly slow: readonly { readonly title: string; readonly durationMs: number }[]
}

const SLOW_MS = 1_000

/** Writes a `Report` to the file named by THROUGHLINE_TEST_REPORT. */
class ReportWriter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const file = process.env['THROUGHLINE_TEST_REPORT']
    if (file === undefined) return
    const origins = unhandledErrors.map(originOf)
    const files = modules.map((module) => {
      const report = reportFile(module)
      const errors = origins.filter((origin) => origin === module.moduleId).length
      return { ...report, failed: report.failed + errors }
    })
    const known = new Set(modules.map(({ moduleId }) => moduleId))
    const errors = origins.filter((origin) => origin === undefined || !known.has(origin)).length
    const report: Report = { files, errors }
    writeFileSync(file, JSON.stringify(report))
  }
}

/** The file whose worker saw the error, by the mark that vitest puts on it. */
function originOf(error: unknown): string | undefined {
  const origin: unknown = Object(error)['VITEST_TEST_PATH']
  return typeof origin === 'string' ? origin : undefined
}

function reportFile(module: TestModule): FileReport {
  let passed = 0
  // An error outside any test, such as a file that cannot be imported, is a failure too, or a broken
  // file would count as no tests at all.
  let failed = module.errors().length
  const failures: string[] = []
  const skipped: FileReport['skipped'][number][] = []
  const slow: FileReport['slow'][number][] = []
  for (const suite of module.children.allSuites()) failed += suite.errors().length
  for (const test of module.children.allTests()) {
    const result = test.result()
    const durationMs = test.diagnostic()?.duration ?? 0
    if (durationMs > SLOW_MS) slow.push({ title: test.fullName, durationMs })
    if (result.state === 'passed') passed++
    else if (result.state === 'failed') {
      failed++
      failures.push(test.fullName)
    } else {
      const note = result.state === 'skipped' ? result.note : undefined
      skipped.push({ title: test.fullName, reason: note ?? 'no reason given' })
    }
  }
  return { file: module.relativeModuleId, passed, failed, failures, skipped, slow }
}

// Vitest loads a reporter by its file's default export.
// biome-ignore lint/style/noDefaultExport: see above
export default ReportWriter
