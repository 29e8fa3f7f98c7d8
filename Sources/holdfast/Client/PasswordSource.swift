import Glibc
import System

/// Where a password comes from: never from the command line, where everybody on the machine and the
/// shell's history can read it.
enum PasswordSource: Hashable {
    case file(String)
    case variable(String)
    case prompt(String)

    static let flags = [
        Flag(
            name: "password-file",
            value: "FILE",
            help: "reads the password from a file's first line"
        ),
        Flag(
            name: "password-env",
            value: "NAME",
            help: "reads it from a variable (else systemd's credential \(credential) or a prompt)"
        ),
    ]

    /// The commands that take one.
    static let commands: Set<String> = ["login", "unlock"]

    /// What the service manager hands over is called so.
    private static let credential = "holdfast.password"
    /// What can be given where there is nobody to ask.
    static let alternatives =
        "--password-file, --password-env or the systemd credential \(credential)"

    /// What was said; else a credential of the service manager's; else a person is asked.
    init(
        _ invocation: Invocation,
        prompt: String,
        environment: [String: String] = Environment.current
    ) throws(Failure) {
        switch (invocation.value("password-file"), invocation.value("password-env")) {
        case (.some, .some):
            throw Failure(
                status: .usage,
                message: "--password-file and --password-env say the same thing twice."
            )
        case (let file?, nil): self = .file(file)
        case (nil, let name?): self = .variable(name)
        case (nil, nil):
            let path = environment["CREDENTIALS_DIRECTORY"].map { "\($0)/\(Self.credential)" }
            let kept = path.flatMap { access($0, R_OK) == 0 ? $0 : nil }
            self = kept.map { .file($0) } ?? .prompt(prompt)
        }
    }

    func read(environment: [String: String] = Environment.current) throws(Failure) -> String {
        switch self {
        case .variable(let name):
            guard let text = environment[name], !text.isEmpty else {
                throw Failure(status: .usage, message: "The variable \(name) holds no password.")
            }
            return text
        case .file(let path): return try firstLine(of: path)
        case .prompt(let words): return try Prompt().ask(words)
        }
    }

    private func firstLine(of path: String) throws(Failure) -> String {
        let bytes: [UInt8]
        do {
            bytes = try path == "-" ? Files.readStandardInput() : Files.readNamed(path)
        } catch {
            throw Failure(status: .failure, message: "The password cannot be read: \(error).")
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw Failure(status: .failure, message: "There is no password in \(path).")
        }
        return text
    }
}
