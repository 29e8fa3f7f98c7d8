import Metrics

enum Operation: String, CaseIterable {
    case create, update
}

enum Disposition: String, CaseIterable {
    case saved, queued, rejected
}

extension Registry {
    convenience init() { self.init(timekeeper: StillTime()) }

    func text(_ format: ExpositionFormat) async -> String {
        String(decoding: await page(format), as: UTF8.self)
    }
}
